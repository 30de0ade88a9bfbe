import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { freePort, ServerProcess } from "../server-process.js";

const ROWS = 8_000;
const DIMENSIONS = 16;

interface Recall {
  readonly target: number;
  readonly recall: number;
  readonly error: number;
  readonly linked: number;
  readonly queries: string;
}

/** What `/v1/nodes?output=verbose` says of the only shard. */
async function recallOf({ http }: ServerProcess): Promise<Recall | undefined> {
  const { nodes } = JSON.parse((await http.get("/v1/nodes?output=verbose")).text);
  return nodes[0].shards[0]?.recall;
}

async function measured(server: ServerProcess, target: number): Promise<Recall> {
  let recall: Recall | undefined;
  await expect
    .poll(
      async () => {
        recall = await recallOf(server);
        return recall?.target === target && recall.linked === ROWS;
      },
      { timeout: 60_000, interval: 200 },
    )
    .toBe(true);
  if (recall === undefined) throw new Error("nothing was measured");
  return recall;
}

it("F17: a class has a target for the recall of its searches, which its index measures, shows, and keeps over a restart", async () => {
  const port = await freePort();
  const random = seededRandom(17);
  await using server = await ServerProcess.start({ env: { METRICS_PORT: String(port) } });
  const { http } = server;
  const definition = (vectorIndexConfig: object): object => ({ class: "Point", vectorizer: "none", vectorIndexConfig });
  const shownConfig = async () => JSON.parse((await http.get("/v1/schema/Point")).text).vectorIndexConfig;

  const refused = await http.post("/v1/schema", definition({ targetRecall: 1.5 }));
  expect(refused.status).toBe(422);
  expect(refused.text).toContain("vectorIndexConfig.targetRecall must be a number from 0.5 to 1, got the number 1.5");
  expect((await http.post("/v1/schema", definition({}))).status).toBe(200);
  expect(await shownConfig()).not.toHaveProperty("targetRecall");
  for (let from = 0; from < ROWS; from += 500) {
    const objects = Array.from({ length: 500 }, () => ({
      class: "Point",
      vector: Array.from({ length: DIMENSIONS }, () => random.next() - 0.5),
    }));
    expect((await http.post("/v1/batch/objects", { objects })).status).toBe(200);
  }
  const first = await measured(server, 0.98);
  expect(first.recall - first.error).toBeGreaterThanOrEqual(0.98);
  expect(first.queries).toBe("rows");

  expect((await http.put("/v1/schema/Point", definition({ targetRecall: 0.9 }))).status).toBe(200);
  expect((await shownConfig()).targetRecall).toBe(0.9);
  await measured(server, 0.9);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toMatch(/^shoal_shards_by_recall\{state="reached"\} 1$/m);
  expect(metrics).toMatch(/^shoal_recall_min 0\.9/m);

  await server.restart();
  expect((await shownConfig()).targetRecall).toBe(0.9);
  await measured(server, 0.9);

  // A number of candidates of its own, and all vectors: nothing is measured.
  for (const config of [{ ef: 64 }, { targetRecall: 1 }]) {
    expect((await http.put("/v1/schema/Point", definition(config))).status).toBe(200);
    await expect.poll(() => recallOf(server)).toBeUndefined();
  }
});
