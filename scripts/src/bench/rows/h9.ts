import { NO_FIGURES } from "../figures.js";
import { classifyWords, importLabelledWords, importLabels, type LabelledWords } from "../labelled-words.js";
import { cpuMicros, residentMb, waitUntilIdle } from "../process-usage.js";
import type { Row } from "../row.js";

const WORDS: LabelledWords = { className: "Word", first: 0, count: 20_000 };
/** Classified ahead of them: a server runs for days, V8 compiles its code in the first seconds. */
const WARM_UP: LabelledWords = { className: "Early", first: WORDS.count, count: 8_000 };

/** knn with k 3: every other word of 20,000 has one of ten labels, the others get theirs. */
export const h9: Row = {
  id: "H9",
  group: "H9",
  operation: "knn classification, per item",
  target: 320,
  figure: "cpuMicros",
  byDefault: true,
  needsOwnServer: true,
  async run(bench) {
    await using server = await bench.ownServer();
    const { url } = server;
    const pids = [server.pid];
    bench.say(`importing ${WORDS.count} words, half of them with labels`);
    await importLabels(url);
    for (const words of [WARM_UP, WORDS]) await importLabelledWords(url, words);
    await classifyWords(url, WARM_UP.className);
    await waitUntilIdle(pids);
    bench.say("knn classification");
    const begun = performance.now();
    const before = cpuMicros(pids);
    const counted = await classifyWords(url, WORDS.className);
    const micros = cpuMicros(pids) - before;
    const seconds = (performance.now() - begun) / 1000;
    await waitUntilIdle(pids);
    return {
      ...NO_FIGURES,
      cpuMicros: micros / counted,
      requestsPerSecond: counted / seconds,
      residentMb: residentMb(pids),
      note: `${counted} items; ${Math.round((cpuMicros(pids) - before) / counted)} µs with what is put off`,
    };
  },
};
