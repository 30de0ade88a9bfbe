import { randomUUID } from "node:crypto";
import { type ObjectId, SPEC_PROFILE } from "@shoal/model";
import { bench, describe } from "vitest";
import { INGEST_LIMITS } from "./ingest-parts.js";
import { input } from "./ingest-setup.fixture.js";
import { MemoryCluster } from "./memory-cluster.fixture.js";
import { ObjectIngest } from "./object-ingest.js";

const cluster = new MemoryCluster(["node0"], 4);
const names = { text: "text", category: "string", rank: "int", price: "int" };
cluster.addClass({
  class: "Word",
  properties: Object.entries(names).map(([name, type]) => ({ name, dataType: [type] })),
});
cluster.node = () => ({
  ...({} as ReturnType<MemoryCluster["node"]>),
  putObjects: async (_, objects) => objects.map(() => times),
});
const times = { creationTimeUnix: 1, lastUpdateTimeUnix: 1 };
const ingest = new ObjectIngest({
  schema: cluster,
  router: cluster.router,
  schemaService: cluster,
  profile: SPEC_PROFILE,
  newId: randomUUID,
  nowMs: Date.now,
  limits: INGEST_LIMITS,
  autoSchema: {
    types: { string: "text", number: "number", date: "date" },
    schemaService: cluster,
    classSettings: () => cluster.classSettings,
    schemaLimits: cluster.schemaLimits,
  },
});
const batch = Array.from({ length: 1_000 }, (_, i) =>
  input("Word", {
    id: randomUUID() as ObjectId,
    properties: { text: `word ${i}`, category: `c${i % 10}`, rank: i, price: i * 7 },
    vector: Array.from({ length: 100 }, (_, j) => Math.sin(i * 100 + j)),
  }),
);

describe("import of 1,000 objects of 100 dimensions into 4 shards that do nothing", () => {
  bench("validation, routing, grouping, outcomes", async () => {
    await ingest.importObjects(batch, { deadline: Number.MAX_SAFE_INTEGER });
  });
});
