import { rm } from "node:fs/promises";
import { GLOVE_DIMENSIONS, gloveWords } from "@shoal/data-sets";
import { seededRandom } from "@shoal/seeded-random";
import { at } from "../http-client.js";
import { randomId } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";
import { Failures, type FaultRow } from "./fault-row.js";
import { graphFiles } from "./store-folders.js";

const K = 10;
const TOLERANCE = 0.001;

/** R15: recall@10 on GloVe words before a restart, after it, after a kill, and after the graph was rebuilt. */
export const R15: FaultRow = {
  id: "R15",
  title: "recall before and after restart and rebuild",
  needs: [],
  run: async ({ size, random, say }) => {
    const [count, queries] = size === "short" ? [6_000, 200] : [100_000, 1_000];
    const { vectors } = await gloveWords({ count: count + queries });
    const row = (n: number): Float32Array => vectors.subarray(n * GLOVE_DIMENSIONS, (n + 1) * GLOVE_DIMENSIONS);
    const failures = new Failures();
    await using server = await ServerProcess.start();
    const { http } = server;
    // A number of candidates of its own: what an index measures of itself differs a little from one measurement to the next. A large one:
    // two graphs of the same rows differ by chance in what few candidates find.
    const properties = [{ name: "n", dataType: ["int"] }];
    await http.post("/v1/schema", { class: "Word", properties, vectorIndexConfig: { ef: 256 } });
    const ids = seededRandom(Math.floor(random() * 2 ** 31)).next;
    for (let from = 0; from < count; from += 200) {
      const objects = Array.from({ length: Math.min(200, count - from) }, (_, i) => ({
        class: "Word",
        id: randomId(ids),
        properties: { n: from + i },
        vector: [...row(from + i)],
      }));
      const answer = await http.post("/v1/batch/objects", { objects });
      if (answer.status !== 200) throw new Error(answer.text.slice(0, 300));
    }
    const truth = Array.from({ length: queries }, (_, q) => nearest(vectors, count, row(count + q)));
    const recall = async (): Promise<number> => {
      let hits = 0;
      for (let q = 0; q < queries; q++) {
        const rows = await http.rows(
          "Word",
          `{ Get { Word(nearVector: {vector: [${row(count + q)}]}, limit: ${K}) { n } } }`,
        );
        hits += rows.filter((one) => truth[q]?.has(Number(at(one, "n")))).length;
      }
      return hits / (K * queries);
    };
    const stages: Record<string, number> = {};
    const measure = async (stage: string): Promise<void> => {
      stages[stage] = await recall();
      say(`${stage}: ${stages[stage]?.toFixed(4)}`);
    };
    await measure("before");
    await server.restart();
    await measure("after a restart");
    await server.kill();
    await server.launch();
    await measure("after a kill");
    await server.stop();
    for (const path of await graphFiles(server.dataPath)) await rm(path);
    await server.launch();
    await measure("after a rebuild");
    const before = stages.before ?? 0;
    failures.check(before >= 0.95, `recall@10 is ${before}`);
    for (const [stage, value] of Object.entries(stages)) {
      failures.check(value >= before - TOLERANCE, `recall ${stage} is ${value}, before it was ${before}`);
    }
    return { figures: { words: count, queries, ...stages }, failures: failures.lines };
  },
};

/** Row numbers of the K nearest by cosine. */
function nearest(vectors: Float32Array, count: number, query: Float32Array): ReadonlySet<number> {
  const best: { n: number; similarity: number }[] = [];
  for (let n = 0; n < count; n++) {
    let dot = 0;
    let squared = 0;
    const base = n * GLOVE_DIMENSIONS;
    for (let i = 0; i < GLOVE_DIMENSIONS; i++) {
      const x = vectors[base + i] ?? 0;
      dot += x * (query[i] ?? 0);
      squared += x * x;
    }
    const similarity = dot / Math.sqrt(squared);
    const last = best[K - 1];
    if (last !== undefined && similarity <= last.similarity) continue;
    best.push({ n, similarity });
    best.sort((a, b) => b.similarity - a.similarity);
    best.length = Math.min(best.length, K);
  }
  return new Set(best.map((one) => one.n));
}
