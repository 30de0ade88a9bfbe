import { expect, it } from "vitest";
import { WideData } from "../faults/wide-data.js";
import { errorOf } from "../http-client.js";
import { withCluster } from "./cluster.js";

const MIB = 1024 * 1024;
/** The least that there may be; an empty storage node takes about half of it. */
const BUDGET_MIB = 128;
const BATCHES_MAX = 400;

it("F5: a storage node without memory for more refuses through a gateway as the one process does", async () => {
  const env = { MEMORY_BUDGET_BYTES: String(BUDGET_MIB * MIB) };
  await withCluster({ gateways: 1, storageNodes: 1, etcdMembers: 0, env }, async (cluster) => {
    const data = new WideData(cluster.http, 1_536, () => 0.5);
    await data.createClass();
    let refusal: string | undefined;
    for (let batch = 0; batch < BATCHES_MAX && refusal === undefined; batch++) refusal = await data.importBatch(50);
    const words = new RegExp(
      `takes no new objects and vectors: .* of the ${BUDGET_MIB} MiB .*\\(MEMORY_BUDGET_BYTES\\)`,
    );
    expect(refusal).toMatch(words);
    let answer = await cluster.http.post("/v1/objects", data.next().body);
    // Memory that an import gave back may let some more in.
    for (let round = 0; round < 50 && answer.status === 200; round++) {
      for (let batch = 0; batch < BATCHES_MAX && (await data.importBatch(50)) === undefined; batch++);
      answer = await cluster.http.post("/v1/objects", data.next().body);
    }
    expect([answer.status, answer.headers.get("retry-after"), errorOf(answer)]).toEqual([
      429,
      "10",
      expect.stringMatching(words),
    ]);
    const [first = 0] = data.stored;
    expect(await data.delete([first])).toBe(0);
  });
});
