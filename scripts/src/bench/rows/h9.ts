import { NO_FIGURES } from "../figures.js";
import { classifyWords, importLabelledWords } from "../labelled-words.js";
import { cpuMicros, residentMb, waitUntilIdle } from "../process-usage.js";
import type { Row } from "../row.js";

const OBJECTS = 20_000;

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
    bench.say(`importing ${OBJECTS} words, half of them with labels`);
    await importLabelledWords(url, OBJECTS);
    await waitUntilIdle(pids);
    bench.say("knn classification");
    const begun = performance.now();
    const before = cpuMicros(pids);
    const counted = await classifyWords(url);
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
