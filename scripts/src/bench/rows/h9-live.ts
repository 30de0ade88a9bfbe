import { ShoalError } from "@shoal/model";
import { BENCH_SETS } from "../bench-class.js";
import { NO_FIGURES } from "../figures.js";
import { classification, importLabelledWords, importLabels, startClassification } from "../labelled-words.js";
import { LoadRun } from "../load-run.js";
import { asLoad, measure } from "../measure.js";
import { waitUntilIdle } from "../process-usage.js";
import type { Row } from "../row.js";
import { nearVectorLoad } from "./near-vector-rows.js";

/** Half of them are classified. */
const OBJECTS = 40_000;
const QUERY_SECONDS = 6;
const QUERIES_MAX = 60_000;
const FACTOR_MAX = 3;

/** What a classification leaves for those who ask meanwhile. */
export const h9Live: Row = {
  id: "H9-live",
  group: "H9",
  operation: "p99 of nearVector during a classification (ms)",
  target: null,
  figure: "p99Ms",
  byDefault: true,
  needsOwnServer: true,
  async run(bench) {
    await using server = await bench.ownServer();
    const { url, pid } = server;
    const target = { url, pids: [pid] };
    bench.say(`importing ${OBJECTS} words, half of them with labels`);
    await importLabels(url);
    await importLabelledWords(url, { className: BENCH_SETS.glove.className, first: 0, count: OBJECTS });
    await waitUntilIdle(target.pids);
    bench.say("nearVector, server otherwise idle");
    const queries = { ...nearVectorLoad("glove", OBJECTS, "perturbed", QUERIES_MAX, 0), secondsMax: QUERY_SECONDS };
    const idle = await measure(target, queries);

    bench.say("nearVector during a knn classification");
    using asking = await LoadRun.start(asLoad(target, queries));
    await asking.warmUp();
    const id = await startClassification(url, BENCH_SETS.glove.className);
    const load = await asking.run();
    const { status, error } = await classification(url, id);
    if (status !== "running")
      throw new ShoalError("internal", `the classification has ended too soon: ${error ?? status}`);
    return {
      ...NO_FIGURES,
      requestsPerSecond: load.requests / load.seconds,
      p50Ms: load.p50Ms,
      p99Ms: load.p99Ms,
      target: FACTOR_MAX * (idle.p99Ms ?? Number.NaN),
      note: `idle p50 ${idle.p50Ms?.toFixed(1)}, p99 ${idle.p99Ms?.toFixed(1)} ms, ${Math.round(idle.requestsPerSecond ?? 0)} requests/s`,
    };
  },
};
