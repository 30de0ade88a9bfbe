import { randomUUID } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { at, graphqlErrors, type HttpClient } from "../http-client.js";

/** A process that keeps shards below its data folder, and the API that answers for it. */
export interface Keeper {
  readonly http: HttpClient;
  readonly dataPath: string;
  /** The end of what it has printed. */
  readonly log: () => string;
  readonly stop: () => Promise<unknown>;
  readonly launch: (env?: Readonly<Record<string, string>>) => Promise<void>;
}

const CLASS = "Lost";
const SHARDS = 2;
const OBJECTS = 24;
const ids = Array.from({ length: OBJECTS }, () => randomUUID());
const COUNT = `{ Aggregate { ${CLASS} { meta { count } } } }`;

/** What may be away, its path from the folder of the first shard, and what the reason names. */
const LOSSES: readonly (readonly [what: string, path: string, reason: RegExp])[] = [
  ["all shards", "../..", /rows is missing/],
  ["the folder of the class", "..", /rows is missing/],
  ["the folder of a shard", ".", /rows is missing/],
  ["the store of a shard", "rows", /rows is missing/],
  ["CURRENT of a shard", "rows/CURRENT", /CURRENT is missing/],
  ["the log of a shard", "rows/*.log", /\.log is missing/],
];

/** Without a restart; the others with one, which is faster. */
const REOPENED = ".";

/** Fills a class and takes parts of its data away, one after the other: no shard ever passes for an empty one. */
export async function loseShards(keeper: Keeper): Promise<void> {
  const { http } = keeper;
  const made = await http.post("/v1/schema", {
    class: CLASS,
    properties: [{ name: "n", dataType: ["int"] }],
    shardingConfig: { desiredCount: SHARDS },
  });
  expect(made.status, made.text).toBe(200);
  const objects = ids.map((id, n) => ({ class: CLASS, id, properties: { n }, vector: [Math.cos(n), Math.sin(n)] }));
  for (const [what, path, reason] of LOSSES) {
    // Anew each time, so that there is something in the log.
    const batch = await http.post("/v1/batch/objects", { objects });
    expect(batch.text, what).not.toContain("FAILED");
    await keeper.stop();
    const lost = await pathOf(keeper.dataPath, path);
    await rename(lost, `${keeper.dataPath}/away`);
    await keeper.launch();
    await checkRefusals(keeper, what, reason);
    const opensByItself = path === REOPENED;
    if (!opensByItself) await keeper.stop();
    await rename(`${keeper.dataPath}/away`, lost);
    if (!opensByItself) await keeper.launch();
    // A few seconds after it could not be opened it is tried again.
    await expect.poll(() => statuses(http), { timeout: 60_000, interval: 500, message: what }).toEqual([200]);
    expect(at((await http.graphql(COUNT)).json, "data", "Aggregate", CLASS, 0, "meta", "count"), what).toBe(OBJECTS);
  }
}

/** As {@link loseShards} has left it: the operator accepts that a shard is lost. */
export async function acceptLoss(keeper: Keeper): Promise<void> {
  const { http } = keeper;
  await keeper.stop();
  // What was seen of the rows stays: it must not be believed.
  await rm(await pathOf(keeper.dataPath, "rows"), { recursive: true });
  await keeper.launch({ CLUSTER_ACCEPT_DATA_LOSS: "true" });
  expect(await statuses(http)).toEqual([200, 404]);
  expect(keeper.log()).toContain("goes on without what it has lost");
  const left = at((await http.graphql(COUNT)).json, "data", "Aggregate", CLASS, 0, "meta", "count");
  expect(left).toSatisfy((count: number) => count > 0 && count < OBJECTS);
  await keeper.stop();
  await keeper.launch();
  expect(await statuses(http)).toEqual([200, 404]);
}

async function pathOf(dataPath: string, path: string): Promise<string> {
  const shards = join(dataPath, "shards");
  const [classId = ""] = await readdir(shards);
  const [shard = ""] = (await readdir(join(shards, classId))).filter((name) => !name.includes("."));
  const found = join(shards, classId, shard, path);
  if (!found.endsWith("*.log")) return found.replace(/\/$/, "");
  const rows = dirname(found);
  return join(rows, (await readdir(rows)).find((name) => name.endsWith(".log")) ?? "");
}

async function checkRefusals({ http, log }: Keeper, what: string, reason: RegExp): Promise<void> {
  const found = await statuses(http);
  expect(found, what).toContain(503);
  expect(found, what).not.toContain(404);
  const counted = await http.graphql(COUNT);
  expect(String(graphqlErrors(counted)[0]), what).toMatch(reason);
  expect(String(graphqlErrors(counted)[0]), what).toMatch(
    /shard .* of class 'Lost' on node .*CLUSTER_ACCEPT_DATA_LOSS/,
  );
  expect((await http.get("/v1/nodes")).text, what).toContain("UNHEALTHY");
  expect(log(), what).toMatch(reason);
}

/** Of GET of every object, each once. */
async function statuses(http: HttpClient): Promise<readonly number[]> {
  const answers = await Promise.all(ids.map((id) => http.get(`/v1/objects/${id}`)));
  return [...new Set(answers.map(({ status }) => status))].sort();
}
