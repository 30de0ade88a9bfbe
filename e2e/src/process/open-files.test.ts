import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-files-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A command in front of the server's, after which it may have so many open files. */
const withFiles = (most: number) => ["bash", "-c", `ulimit -n ${most}; exec "$0" "$@"`];

const message = (json: unknown) => at(json, "error", 0, "message");

describe("a process with few open files", () => {
  it("refuses shards beyond what it can open, and opens all it has created again", async () => {
    const dataPath = join(folder, "few");
    await using server = await ServerProcess.start({ dataPath, prefix: withFiles(256) });
    expect(server.output).toContain(
      "this process may have 256 open files (ulimit -n), enough for 8 shards (SCHEMA_SHARDS_MAX: 2000) and 43 connections",
    );
    const wide = { class: "Wide", shardingConfig: { desiredCount: 1_024 } };
    const refused = await server.http.post("/v1/schema", wide);
    expect([refused.status, message(refused.json)]).toEqual([
      422,
      "the schema would have 1024 shards, at most 8 are allowed (this process may have 256 open files: ulimit -n)",
    ]);
    for (let made = 0; made < 8; made++) {
      const { status } = await server.http.post("/v1/objects", {
        class: `Class${made}`,
        properties: { number: made },
        vector: [1, 2],
      });
      expect(status).toBe(200);
    }
    const beyond = await server.http.post("/v1/objects", {
      class: "Beyond",
      properties: { number: 1 },
      vector: [1, 2],
    });
    expect([beyond.status, message(beyond.json)]).toEqual([
      422,
      "invalid object: the schema would have 9 shards, at most 8 are allowed " +
        "(this process may have 256 open files: ulimit -n)",
    ]);
    for (let start = 0; start < 4; start++) {
      await server.restart();
      const { json } = await server.http.get("/v1/objects");
      expect(at(json, "totalResults")).toBe(8 + start);
      const another = await server.http.post("/v1/objects", {
        class: `Class${start}`,
        properties: { number: start },
        vector: [1, 2],
      });
      expect(another.status).toBe(200);
    }
  });

  it("says in one line when it cannot open the shards that there are, and opens them when it can", async () => {
    const dataPath = join(folder, "lowered");
    {
      await using server = await ServerProcess.start({ dataPath });
      const { status } = await server.http.post("/v1/schema", { class: "Wide", shardingConfig: { desiredCount: 40 } });
      expect(status).toBe(200);
      await server.http.post("/v1/objects", { class: "Wide", properties: { number: 1 }, vector: [1, 2] });
      expect(await server.stop()).toEqual({ code: 0, signal: null });
    }
    const start = ServerProcess.start({ dataPath, prefix: withFiles(256), env: { LOG_LEVEL: "error" } });
    const failure = await start.then(
      () => "started",
      (error: Error) => error.message,
    );
    expect(failure.trimEnd().split("\n").slice(1)).toEqual([
      "shoal: the 40 shards of the schema need 544 open files, this process may have 256: raise the limit (ulimit -n)",
    ]);
    await using server = await ServerProcess.start({ dataPath, prefix: withFiles(544) });
    expect(at((await server.http.get("/v1/objects?class=Wide")).json, "objects", 0, "properties")).toEqual({
      number: 1,
    });
  });

  it("says in one line when it can do nothing", async () => {
    const start = ServerProcess.start({ dataPath: join(folder, "none"), prefix: withFiles(170) });
    const failure = await start.then(
      () => "started",
      (error: Error) => error.message,
    );
    expect(failure).toContain("shoal: this process may have 170 open files, at least 176 are needed: raise the limit");
  });
});

it("SCHEMA_SHARDS_MAX bounds the shards of all classes, and what there is already stays", async () => {
  const dataPath = join(folder, "setting");
  await using server = await ServerProcess.start({ dataPath, env: { SCHEMA_SHARDS_MAX: "5" } });
  const post = (name: string, desiredCount: number) =>
    server.http.post("/v1/schema", { class: name, shardingConfig: { desiredCount } });
  expect((await post("One", 3)).status).toBe(200);
  const refused = await post("Two", 3);
  expect([refused.status, message(refused.json)]).toEqual([
    422,
    "the schema would have 6 shards, at most 5 are allowed (SCHEMA_SHARDS_MAX)",
  ]);
  expect((await post("Two", 2)).status).toBe(200);
  await server.restart({ SCHEMA_SHARDS_MAX: "1" });
  expect(at((await server.http.get("/v1/schema")).json, "classes")).toHaveLength(2);
  expect((await post("Three", 1)).status).toBe(422);
  await server.http.delete("/v1/schema/One");
  expect(
    (await server.http.post("/v1/objects", { class: "Two", properties: { number: 1 }, vector: [1, 2] })).status,
  ).toBe(200);
});
