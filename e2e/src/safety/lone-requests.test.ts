import { describe, expect, it } from "vitest";
import { ServerProcess } from "../server-process.js";

const OBJECTS = 20_000;
/** One less than GRAPHQL_CLASS_FIELDS_MAX. */
const FIELDS = 199;

const NAME = { name: "name", dataType: ["string"] };

const fields = (field: (at: number) => string): string =>
  Array.from({ length: FIELDS }, (_, at) => `f${at}: ${field(at)}`).join(" ");
const like = (at: number): string => `where: { path: ["name"], operator: Like, valueString: "*${at}*x?" }`;

/** A 429 of a request that is alone would be for ever. */
describe("S10: one request on an idle server is never told to try again", () => {
  it("however many of its parts take long", async () => {
    await using server = await ServerProcess.start({ env: { LOG_LEVEL: "error" } });
    const { http } = server;
    expect((await http.post("/v1/schema", { class: "Item", properties: [NAME] })).status).toBe(200);
    const objects = Array.from({ length: OBJECTS }, (_, at) => ({
      class: "Item",
      properties: { name: `item-${at}-${(at * 7_919) % OBJECTS}x` },
      vector: [Math.sin(at), Math.cos(at)],
    }));
    expect((await http.post("/v1/batch/objects", { objects })).status).toBe(200);
    const queries = {
      likes: `{ Get { ${fields((at) => `Item(limit: 1, ${like(at)}) { name }`)} } }`,
      counts: `{ Aggregate { ${fields((at) => `Item(${like(at)}) { meta { count } }`)} } }`,
      groups: `{ Aggregate { ${fields(() => 'Item(groupBy: "name") { meta { count } }')} } }`,
      searches: `{ Get { ${fields((at) => `Item(limit: 500, nearVector: { vector: [${at}, 1] }) { name }`)} } }`,
      projections: `{ Get { ${fields(() => "Item(limit: 20) { _additional { featureProjection(dimensions: 1) { vector } } }")} } }`,
    };
    for (const [name, query] of Object.entries(queries)) {
      const { status, text } = await http.post("/v1/graphql", { query });
      expect([status, text.slice(0, 200)], name).toEqual([200, expect.stringContaining('{"data":')]);
      expect(JSON.parse(text).errors ?? null, name).toBeNull();
    }
  });
});
