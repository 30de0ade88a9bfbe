import { seededRandom } from "@shoal/seeded-random";
import { bench, describe } from "vitest";
import { openLink } from "./testing/open-link.js";
import { RandomValues } from "./testing/random-values.js";
import { scriptedNode } from "./testing/scripted-node.js";

const values = new RandomValues(seededRandom(1));
const propertiesJson = Buffer.from(JSON.stringify({ text: "x".repeat(60), category: "c1", rank: 1 }));
const hits = Array.from({ length: 10 }, () => {
  const id = values.id();
  const row = { className: "Car", creationTimeUnix: 1, lastUpdateTimeUnix: 2, propertiesJson };
  return { id, distance: 0.5, object: { id, ...row, vector: undefined, extras: undefined } };
});
const node = scriptedNode(() => {
  node.calls.length = 0;
  return hits;
});
const { client } = await openLink(node);
const shard = { classId: "c", className: "Car", shardName: "s" };
const fields = { properties: true, vector: false, extras: false };
const search = { vector: new Float32Array(768), count: 10, fields };

describe("a search with a vector of 3 KB and ten rows", () => {
  const ask = () => client.searchByVector(shard, search, { deadline: Date.now() + 60_000 });
  bench("one request", async () => {
    await ask();
  });
  bench("32 requests under way", async () => {
    await Promise.all(Array.from({ length: 32 }, ask));
  });
});
