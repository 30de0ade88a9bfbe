import { BENCH_SETS } from "../bench-class.js";
import type { Row } from "../row.js";
import { measureNearVector, nearVectorLoad } from "./near-vector-rows.js";

const QUERIES = 20_000;

/** The same queries over ever more words; at the last size no word is held out, so all are perturbed ones. */
export const h1Growth: readonly Row[] = [
  growthRow("H1-10k", 10_000),
  growthRow("H1-100k", 100_000),
  growthRow("H1-341k", BENCH_SETS.glove.rows),
];

function growthRow(id: string, count: number): Row {
  return {
    id,
    group: "H1-growth",
    operation: `GraphQL nearVector, ${count.toLocaleString("en")} × 100`,
    target: null,
    figure: "cpuMicros",
    byDefault: false,
    needsOwnServer: true,
    async run(bench) {
      await using server = await bench.ownServer();
      const target = { url: server.url, pids: [server.pid] };
      await bench.importInto(target, "glove", count);
      bench.say(`nearVector over ${count.toLocaleString("en")} words`);
      return await measureNearVector(target, nearVectorLoad("glove", count, "perturbed", QUERIES));
    },
  };
}
