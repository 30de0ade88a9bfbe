import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { at } from "../http-client.js";
import { testSeed } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";
import { acceptLoss, loseShards } from "./lost-data-suite.js";

const KILL_ROUNDS = Number(process.env.SHOAL_KILL_ROUNDS ?? 6);

it("F3, F11: a shard of the one-process server that is lost, or a part of it, is unavailable and never empty", async () => {
  await using server = await ServerProcess.start();
  const keeper = {
    http: server.http,
    dataPath: server.dataPath,
    log: () => server.output,
    stop: () => server.stop(),
    launch: (env?: Readonly<Record<string, string>>) => server.launch(env),
  };
  await loseShards(keeper);
  await acceptLoss(keeper);
  // The list is part of the folder: what it does not know of is known from the schema.
  await server.stop();
  for (const name of ["shards", "shards.json", "node.json"]) await rm(join(server.dataPath, name), { recursive: true });
  server.spawn();
  expect(await server.exited()).toMatchObject({ code: 1 });
  expect(server.output).toMatch(/is a new folder, but node '.*' has 2 shards, whose data is not in it/);
}, 240_000);

it("F3: a server whose shards are gone with the list of them does not begin without it", async () => {
  await using server = await ServerProcess.start();
  expect((await server.http.post("/v1/schema", { class: "A" })).status).toBe(200);
  await server.stop();
  for (const name of ["shards", "shards.json"]) await rm(join(server.dataPath, name), { recursive: true });
  server.spawn();
  expect(await server.exited()).toMatchObject({ code: 1 });
  expect(server.output).toMatch(/shards\.json' is missing: nobody knows/);
  await server.launch({ CLUSTER_ACCEPT_DATA_LOSS: "true" });
  await server.stop();
  await server.launch();
});

it("F3: the list of made shards holds no class that was deleted", async () => {
  await using server = await ServerProcess.start();
  for (const name of ["A", "B", "A"]) {
    expect((await server.http.post("/v1/schema", { class: name })).status).toBe(200);
    if (name === "A") expect((await server.http.delete("/v1/schema/A")).status).toBe(200);
  }
  await server.stop();
  const classes = await readdir(join(server.dataPath, "shards"));
  const list = at(JSON.parse(await readFile(join(server.dataPath, "shards.json"), "utf8")), "classes");
  expect(classes).toHaveLength(1);
  expect(Object.keys(list as object)).toEqual(classes);
});

it(
  `F2: no kill while a class of 20 shards is made leaves a shard that does not open (${KILL_ROUNDS} rounds)`,
  async () => {
    const seed = testSeed();
    const random = seededRandom(seed);
    await using server = await ServerProcess.start();
    for (let round = 0; round < KILL_ROUNDS; round++) {
      const where = `seed ${seed}, round ${round}`;
      const making = server.http
        .post("/v1/schema", {
          class: "Cut",
          properties: [{ name: "n", dataType: ["int"] }],
          shardingConfig: { desiredCount: 20 },
        })
        .catch(() => undefined);
      // Half of them before the answer.
      if (round % 2 === 0) await making;
      await new Promise((resolve) => setTimeout(resolve, random.below(30)));
      await server.kill();
      await making;
      await server.launch();
      const nodes = await server.http.get("/v1/nodes");
      expect(at(nodes.json, "nodes", 0, "status"), where).toBe("HEALTHY");
      if ((await server.http.get("/v1/schema/Cut")).status !== 200) continue;
      const count = await server.http.graphql("{ Aggregate { Cut { meta { count } } } }");
      expect(at(count.json, "data", "Aggregate", "Cut", 0, "meta", "count"), `${where}: ${count.text}`).toBe(0);
      expect((await server.http.delete("/v1/schema/Cut")).status, where).toBe(200);
    }
  },
  120_000 + KILL_ROUNDS * 20_000,
);
