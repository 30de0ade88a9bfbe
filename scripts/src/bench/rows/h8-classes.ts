import { post } from "../ask.js";
import { BENCH_SETS } from "../bench-class.js";
import type { Target } from "../measure.js";
import type { Row } from "../row.js";
import { measureObjects } from "./h8.js";

const CLASSES = 200;
const REQUESTS = 9000;
/** As in H8, objects were written before: V8 has compiled what writes have in common. */
const EARLIER_PUTS = 9000;

/**
 * An id that a client gives must be free in every class: what that costs when there are many. The ids are new ones, so
 * every class is asked.
 */
export const h8Classes: Row = {
  id: "H8-post-200c",
  group: "H8-200c",
  operation: `POST of a new object, ${CLASSES} classes`,
  target: 320,
  figure: "cpuMicros",
  byDefault: true,
  needsOwnServer: true,
  async run(bench) {
    await using server = await bench.ownServer();
    const target = { url: server.url, pids: [server.pid] };
    bench.say(`creating ${CLASSES} classes`);
    for (let at = 1; at < CLASSES; at++) await createOther(target, at);
    const loaded = await bench.importInto(target, "glove", BENCH_SETS.glove.loaded);
    await measureObjects(loaded, "put", EARLIER_PUTS);
    bench.say(h8Classes.operation);
    return await measureObjects(loaded, "post", REQUESTS);
  },
};

/** A class with one object, so that its shard has a table to look into. */
async function createOther({ url }: Target, at: number): Promise<void> {
  const name = `Other${at}`;
  await post(url, "/v1/schema", { class: name, vectorizer: "none" });
  await post(url, "/v1/objects", { class: name, vector: [1, at] });
}
