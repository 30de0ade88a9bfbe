// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how scenarios write their variables
import { describe, expect, it } from "vitest";
import type { HttpClient } from "../http-client.js";
import { runSteps } from "./run-steps.js";
import { parseScenarioFile } from "./scenario-file.js";
import { Scope } from "./scope.js";

const read = (text: string, profile: "spec" | "weaviate" = "spec") => parseScenarioFile(text, "a/b.yaml", profile);

describe("a scenario file", () => {
  it("has the values of the profile it is read for", () => {
    const text =
      "about: x\nscenarios: [{ name: y, steps: [{ send: GET /v1, expect: { spec: 204, weaviate: { status: 200, text: a } } }] }]";
    expect(read(text).scenarios[0]?.steps).toEqual([{ send: "GET /v1", expect: 204 }]);
    expect(read(text, "weaviate").scenarios[0]?.steps).toEqual([
      { send: "GET /v1", expect: { status: 200, text: "a" } },
    ]);
  });

  it.each([
    ["about: x", "scenarios"],
    ["about: x\nscenarios: [{ name: y, steps: [] }]", "scenarios.0.steps"],
    ["about: x\nscenarios: [{ name: y, step: [] }]", "step"],
    ["about: x\nscenarios: [{ name: y, steps: [{ send: /v1 }] }]", "scenarios.0.steps.0.send: is a verb"],
    ["about: x\nscenarios: [{ name: y, steps: [{ send: GET /v1, expects: 200 }] }]", "expects"],
    ["about: x\nscenarios: [{ name: y, steps: [{ send: GET /v1, expect: { status: 200, txt: a } }] }]", "txt"],
    ["about: x\nscenarios: [{ name: y, steps: [{ send: POST /v1, body: {}, text: a }] }]", "body or text"],
    ["about: x\nscenarios: [{ name: y, steps: [{ send: GET /v1, expect: { status: 200, body: <ayn> } }] }]", "<ayn>"],
    ["about: x\nvars: { url: a }\nscenarios: [{ name: y, steps: [{ send: GET /v1 }] }]", "vars.url"],
    ["about: x\nabout: y", "unique"],
    ["about: [", "a/b.yaml"],
  ])("%j is refused, naming the place", (text, message) => {
    expect(() => read(text)).toThrow(message);
    expect(() => read(text)).toThrow("a/b.yaml");
  });
});

describe("variables", () => {
  it("keep their kind alone and are text within one; ids are made once a scope", () => {
    const scope = new Scope({ n: 5, list: [1, "a"], body: { x: "${n}" } });
    expect(scope.fill({ a: "${n}", b: "n=${n}", c: "${list}", d: "${body}" })).toEqual({
      a: 5,
      b: "n=5",
      c: [1, "a"],
      d: { x: 5 },
    });
    const inner = new Scope({}, scope);
    const id = inner.text("${id}");
    expect(inner.text("${id|upper} ${id|plain}")).toBe(`${id.toUpperCase()} ${id.replaceAll("-", "")}`);
    expect(inner.text("${id2}")).not.toBe(id);
    expect(new Scope({}, scope).text("${id}")).not.toBe(id);
    expect(inner.text("${uuid}")).not.toBe(inner.text("${uuid}"));
    expect(() => inner.text("${identity}")).toThrow("nothing has set the variable ${identity}");
    expect(() => inner.text("${id|lower}")).toThrow("there are upper and plain");
  });
});

describe("steps", () => {
  const sent: unknown[] = [];
  const answering = (status: number, text: string): HttpClient =>
    ({
      send: async (...request: readonly unknown[]) => {
        sent.push(request);
        return { status, text, headers: new Headers({ "x-a": "b" }), json: text === "" ? undefined : JSON.parse(text) };
      },
    }) as unknown as HttpClient;
  const run = (steps: string, http: HttpClient) =>
    runSteps(
      read(`about: x\nscenarios: [{ name: y, steps: ${steps} }]`).scenarios[0]?.steps ?? [],
      http,
      new Scope({}),
    );

  it("capture what later ones use", async () => {
    sent.length = 0;
    await run(
      '[{ send: GET /v1, capture: { a: "b.0", h: header x-a, t: text } }, { send: "GET /${a}/${h}", text: "${t}" }]',
      answering(200, '{"b":[7]}'),
    );
    expect(sent).toEqual([
      ["GET", "/v1", undefined, {}],
      ["GET", "/7/b", '{"b":[7]}', {}],
    ]);
  });

  it("go out as often as they say, counting", async () => {
    sent.length = 0;
    await run('[{ send: "GET /${n}", times: 3 }, { send: GET /x, times: 2, at-once: true }]', answering(200, ""));
    expect(sent.map((one) => (one as readonly unknown[])[1])).toEqual(["/0", "/1", "/2", "/x", "/x"]);
  });

  it("keep their number in what they expect, also together, and share the ids", async () => {
    sent.length = 0;
    await run(
      '[{ send: "GET /${id}", times: 3, at-once: true, expect: { status: 200, body: "${n}" } }, { send: "GET /${id}" }]',
      {
        send: async (...request: readonly unknown[]) => ({
          status: 200,
          text: "",
          headers: new Headers(),
          json: sent.push(request) - 1,
        }),
      } as unknown as HttpClient,
    );
    expect(new Set(sent.map((one) => (one as readonly unknown[])[1])).size).toBe(1);
  });

  it.each([
    ["[{ send: GET /v1 }]", 404, "", "status: expected 2xx, got 404"],
    ["[{ send: GET /v1, expect: 204 }]", 200, "", "status: expected 204, got 200"],
    ["[{ send: GET /v1, expect: 404 }]", 404, "{}", "error: expected a list, got nothing"],
    [
      "[{ send: GET /v1, expect: { status: 422, error: a } }]",
      422,
      '{"error":[{"message":"b"}]}',
      'expected "a", got "b"',
    ],
    [
      "[{ send: GET /v1, expect: { status: 422, error: a } }]",
      422,
      '{"error":[{"message":"a"}],"code":1}',
      "code: not expected",
    ],
    ['[{ send: GET /v1, expect: { status: 200, text: "" } }]', 200, "{}", 'text: expected "", got "{}"'],
    ["[{ send: GET /v1, expect: { status: 200, body: null } }]", 200, "", "the whole: expected null, got nothing"],
    ["[{ send: GET /v1, expect: { status: 200, headers: { x-a: c } } }]", 200, "", 'header x-a: expected "c", got "b"'],
  ])("%s fails on %i %j, saying so", async (steps, status, text, message) => {
    await expect(run(steps, answering(status, text))).rejects.toThrow(message);
  });
});
