import { SPEC_PROFILE } from "@shoal/model";
import { expect, it, vi } from "vitest";
import { STEP_LENGTH } from "../../json/write-in-steps.js";
import { GraphQlHandler } from "../handler.js";
import { BothWays } from "../testing/both-ways-suite.js";
import { HubQuery, hubAndLeaves, NODE } from "../testing/hubs.js";
import { LibraryView } from "../testing/library.js";
import { findMembers } from "./find-members.js";
import { JsonBytes } from "./json-bytes.js";
import { RowWriter } from "./row-writer.js";

vi.mock("./find-members.js", async (original) => {
  const real = await original<typeof import("./find-members.js")>();
  return { ...real, findMembers: vi.fn(real.findMembers) };
});

const TEXTS = [
  "{Get{Node(limit:300){name next{...on Node{name}}}}}",
  "{Get{Node(limit:1){name next{...on Node{name next{...on Node{name}}}}}}}",
  "{Get{Node(limit:40){a:next{...on Node{name next{...on Node{_additional{id}}}}} b:next{...on Node{x:name}} name other{...on Node{name}}}}}",
  "{a:Get{Node(limit:9){next{...on Node{name next{...on Node{name}}}} name}} b:Get{Node(limit:9){next{...on Node{name}}}}}",
];

function body(text: string): Buffer {
  return Buffer.from(JSON.stringify({ query: text }));
}

it.each([0, 10_000])("rows that are reached often get the bytes of graphql-js (%i bytes beside)", async (padding) => {
  const nodes = hubAndLeaves(300, padding);
  const both = new BothWays(new LibraryView([NODE]), () => new HubQuery(nodes));
  for (const text of TEXTS) for (let i = 0; i < 2; i++) await both.compare(body(text), text);
  expect(both.seen).toEqual({ prepared: TEXTS.length * 2, refused: 0, failed: 0 });
});

it("reads the properties of a large row once for each field of Get, however often and by whatever it is reached", async () => {
  const nodes = hubAndLeaves(2_000, 100_000);
  const hubJson = nodes[0]?.propertiesJson;
  const query = new HubQuery(nodes);
  const handler = new GraphQlHandler({
    schema: new LibraryView([NODE]),
    query,
    wire: SPEC_PROFILE,
    onFault: () => {},
  });
  for (const [text, fields] of [
    ["{Get{Node(limit:2001){name next{...on Node{name}}}}}", 1],
    ["{Get{Node(limit:1){next{...on Node{name next{...on Node{name}}}} name}}}", 1],
    ["{Get{Node(limit:500){a:next{...on Node{name}} b:next{...on Node{x:name}} name}}}", 1],
    ["{Get{a:Node(limit:500){next{...on Node{name}}} b:Node(limit:5){name}}}", 2],
  ] as const) {
    vi.mocked(findMembers).mockClear();
    await handler.execute(body(text), { deadline: Number.MAX_SAFE_INTEGER });
    const ofHub = vi.mocked(findMembers).mock.calls.filter(([json]) => json === hubJson);
    expect(ofHub, text).toHaveLength(fields);
  }
});

it("yields after so many bytes of what it reads and writes, also inside of one row", async () => {
  const query = new HubQuery(hubAndLeaves(5_000, 0));
  const target = { property: "next", targets: [{ className: "Node", references: [], fields: FIELDS }] };
  const rows = await query.get({
    ...GET,
    limit: 1,
    references: [{ ...target, targets: [{ ...target.targets[0], references: [target] }] }],
  } as never);
  const name = { kind: "value", responseName: "name", property: "name" } as const;
  const next = (...fields: ConstructorParameters<typeof RowWriter>[0]) =>
    ({
      kind: "references",
      responseName: "next",
      property: "next",
      targets: [{ className: "Node", rows: new RowWriter(fields, "target") }],
    }) as const;
  const out = new JsonBytes(1024);
  vi.mocked(findMembers).mockClear();
  const done = () =>
    out.length + vi.mocked(findMembers).mock.calls.reduce((sum, [json]) => sum + Math.min(json.length, 1_000), 0);
  let steps = 0;
  let before = 0;
  for (const _ of new RowWriter([next(name, next(name)), name], "listed").write(rows, out)) {
    steps++;
    expect(done() - before).toBeLessThan(STEP_LENGTH + 10_000);
    before = done();
  }
  expect(steps).toBeGreaterThanOrEqual(2);
  expect(JSON.parse(out.take().toString())[0].next).toHaveLength(5_000);
});

const FIELDS = { properties: true, vector: false, extras: false };
const GET = { className: "Node", fields: FIELDS };

it.each([true, false])("stops when the signal fires, in the middle of a row (prepared: %s)", async (prepareQueries) => {
  const query = new HubQuery(hubAndLeaves(20_000, 0));
  const deps = { schema: new LibraryView([NODE]), query, wire: SPEC_PROFILE, onFault: () => {}, prepareQueries };
  const handler = new GraphQlHandler(deps);
  const text = "{Get{Node(limit:1){next{...on Node{name next{...on Node{name}}}}}}}";
  const given = new AbortController();
  const response = handler.execute(body(text), { deadline: Number.MAX_SAFE_INTEGER, signal: given.signal });
  response.catch(() => {});
  setImmediate(() => setImmediate(() => given.abort(new Error("too late"))));
  await expect(response).rejects.toThrow("too late");
});

it.each([true, false])(
  "stops early when the answer grows too large inside of a row (prepared: %s)",
  async (prepareQueries) => {
    const nodes = hubAndLeaves(20_000, 0).map((node, i) =>
      i > 0
        ? node
        : {
            ...node,
            propertiesJson: Buffer.from(
              node.propertiesJson.toString().replace('"hub"', JSON.stringify("h".repeat(100_000))),
            ),
          },
    );
    const deps = { schema: new LibraryView([NODE]), query: new HubQuery(nodes), wire: SPEC_PROFILE, onFault: () => {} };
    const handler = new GraphQlHandler({ ...deps, prepareQueries, limits: { answerBytesMax: 4 * 1024 * 1024 } });
    const stringify = vi.spyOn(JSON, "stringify");
    const text = "{Get{Node(limit:1){next{...on Node{name next{...on Node{name}}}}}}}";
    const { body: response } = await handler.execute(body(text), { deadline: Number.MAX_SAFE_INTEGER });
    expect(stringify.mock.results.every(({ value }) => String(value).length < 4 * 1024 * 1024)).toBe(true);
    stringify.mockRestore();
    expect(response.toString()).toContain("take more than 4194304 bytes (ANSWER_BYTES_MAX)");
  },
);
