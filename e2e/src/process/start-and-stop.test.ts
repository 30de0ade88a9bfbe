import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at } from "../http-client.js";
import { freePort, runServer, ServerProcess } from "../server-process.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-process-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("bad settings are one clear line and exit code 1", () => {
  it.each([
    ["PORT", "abc"],
    ["PORT", "70000"],
    ["PORT", "-1"],
    ["HOST", "http://127.0.0.1"],
    ["WIRE_PROFILE", "other"],
    ["QUERY_DEFAULTS_LIMIT", "x"],
    ["QUERY_MAXIMUM_RESULTS", "0"],
    ["ORIGIN", "no url"],
    ["LOG_LEVEL", "loud"],
    ["DEFAULT_VECTORIZER_MODULE", "text2vec"],
    ["AUTHENTICATION_OIDC_ENABLED", "true"],
  ])("%s=%s", async (name, value) => {
    const dataPath = join(folder, `never-${name}`);
    const { code, stderr } = await runServer({ PORT: "0", PERSISTENCE_DATA_PATH: dataPath, [name]: value });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(name);
    expect(stderr).toContain(value);
    expect(existsSync(dataPath)).toBe(false);
  });

  it("an address that cannot be bound", async () => {
    const { code, stderr } = await runServer({
      HOST: "203.0.113.1",
      PORT: String(await freePort()),
      PERSISTENCE_DATA_PATH: join(folder, "unbindable"),
    });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain("203.0.113.1");
  });

  it("a port in use", async () => {
    const other = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
    try {
      const dataPath = join(folder, "port");
      const { code, stderr } = await runServer({ PORT: String(port), PERSISTENCE_DATA_PATH: dataPath });
      expect(code).toBe(1);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
      expect(stderr).toContain(String(port));
    } finally {
      other.close();
    }
  });

  it("a data path that is a file", async () => {
    const path = join(folder, "a-file");
    await writeFile(path, "x");
    const { code, stderr } = await runServer({ PORT: String(await freePort()), PERSISTENCE_DATA_PATH: path });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(path);
  });
});

it("a start that waits for the back end of a module is ended by a signal, with exit code 0", async () => {
  const env = { ENABLE_MODULES: "img2vec-neural", IMAGE_INFERENCE_API: `http://127.0.0.1:${await freePort()}` };
  await using server = await ServerProcess.start();
  await server.stop();
  server.spawn(env);
  await expect.poll(() => server.output).toContain("an inference container is not ready yet");
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

describe("start", () => {
  it("prints where it is and how to try it, in four lines", async () => {
    await using server = await ServerProcess.start();
    expect(server.stdout).toContain(server.url);
    expect(server.stdout.trimEnd().split("\n")).toHaveLength(4);
  });

  it("a second process on the same data is refused, and the first one goes on", async () => {
    await using server = await ServerProcess.start();
    const { code, stderr } = await runServer({
      PORT: String(await freePort()),
      PERSISTENCE_DATA_PATH: server.dataPath,
    });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(server.dataPath);
    expect((await server.http.get("/v1/schema")).status).toBe(200);
  });
});

describe("stop", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("%s ends it with exit code 0, also with idle connections", async (signal) => {
    // Both waits are longer than the test: a stop that waited for the idle connection would not end in time.
    await using server = await ServerProcess.start({
      env: { HTTP_KEEP_ALIVE_SECONDS: "300", DRAIN_TIMEOUT_SECONDS: "300" },
    });
    const agent = new Agent({ keepAlive: true });
    await new Promise<void>((resolve, reject) => {
      request(`${server.url}/v1/meta`, { agent }, (answer) => answer.resume().on("end", resolve))
        .on("error", reject)
        .end();
    });
    server.signal(signal);
    expect(await server.exited()).toEqual({ code: 0, signal: null });
    agent.destroy();
  });

  it("drains: what was begun before SIGTERM is answered, what comes after is refused", async () => {
    await using server = await ServerProcess.start({ env: { DRAIN_TIMEOUT_SECONDS: "300" } });
    await server.http.post("/v1/schema", { class: "Car" });
    const objects = Array.from({ length: 3_000 }, (_, i) => ({ class: "Car", id: randomUUID(), vector: [i, 1] }));
    const body = Buffer.from(JSON.stringify({ objects }));
    const batch = await beginRequest(`${server.url}/v1/batch/objects`, body.length);
    batch.outgoing.write(body.subarray(0, body.length / 2));
    server.signal("SIGTERM");
    await portClosed(server.port);
    // The batch was under way when the port closed, and half of it has not even been sent: a server that does not wait
    // for it resets the connection.
    expect(server.running).toBe(true);
    batch.outgoing.end(body.subarray(body.length / 2));
    const { status, text } = await batch.answer;
    expect(status).toBe(200);
    const results = JSON.parse(text) as readonly unknown[];
    expect(results).toHaveLength(objects.length);
    expect(results.every((one) => at(one, "result", "errors") === undefined)).toBe(true);
    expect(await server.exited()).toEqual({ code: 0, signal: null });
    await expect(server.http.get("/v1/meta")).rejects.toThrow();
    await server.launch();
    const statuses = await Promise.all(
      objects.slice(-50).map(async ({ id }) => (await server.http.send("HEAD", `/v1/objects/${id}`)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([204]));
  });
});

/** A POST whose headers the server has read; its body is up to the caller. */
async function beginRequest(url: string, bodyBytes: number) {
  const outgoing = request(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Content-Length": bodyBytes, Expect: "100-continue" },
  });
  const answer = new Promise<{ readonly status: number | undefined; readonly text: string }>((resolve, reject) => {
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      let text = "";
      incoming.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      incoming.on("error", reject).on("end", () => resolve({ status: incoming.statusCode, text }));
    });
  });
  const continued = new Promise<void>((resolve) => outgoing.once("continue", resolve));
  outgoing.flushHeaders();
  await Promise.race([continued, answer]);
  return { outgoing, answer };
}

/** Waits until nobody takes connections on a port of this machine any more. */
async function portClosed(port: number): Promise<void> {
  for (;;) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (!open) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("restart", () => {
  it.each(["stop", "kill"] as const)("after a %s everything is as it was", async (how) => {
    await using server = await ServerProcess.start();
    const { http } = server;
    await http.post("/v1/schema", {
      class: "Book",
      properties: [{ name: "title", dataType: ["string"] }],
      shardingConfig: { desiredCount: 2 },
    });
    const ids = Array.from({ length: 40 }, () => randomUUID());
    for (const [i, id] of ids.entries()) {
      await http.post("/v1/objects", { class: "Book", id, properties: { title: `t${i}` }, vector: [i, 1, 0] });
    }
    await http.delete(`/v1/objects/${ids[0]}`);
    await http.patch(`/v1/objects/${ids[1]}`, { class: "Book", properties: { title: "changed" } });
    await http.put(`/v1/objects/${ids[2]}`, { class: "Book", vector: [-1, 0, 0] });
    await http.post("/v1/schema/Book/properties", { name: "pages", dataType: ["int"] });
    const look = async (): Promise<readonly string[]> =>
      Promise.all(
        [
          http.get("/v1/schema"),
          http.get("/v1/objects?limit=100&include=vector"),
          http.graphql("{ Get { Book(limit: 100) { title pages _additional { id vector } } } }"),
          http.graphql(
            "{ Get { Book(nearVector: {vector: [-1, 0.1, 0]}, limit: 9) { title _additional { id certainty } } } }",
          ),
        ].map(async (answer) => (await answer).text),
      );
    const before = await look();
    if (how === "stop") await server.stop();
    else await server.kill();
    await server.launch();
    expect(await look()).toEqual(before);
    // The dimension of the class is remembered too.
    expect((await http.post("/v1/objects", { class: "Book", vector: [1, 2] })).status).toBe(422);
    expect((await http.get(`/v1/objects/${ids[0]}`)).status).toBe(404);
  });

  it("finds by vector what came into shards that were empty at a restart before", async () => {
    await using server = await ServerProcess.start();
    const { http } = server;
    await http.post("/v1/schema", { class: "Book", shardingConfig: { desiredCount: 4 } });
    const fill = async (from: number, to: number) => {
      const objects = Array.from({ length: to - from }, (_, at) => ({ class: "Book", vector: [from + at, 1] }));
      expect((await http.post("/v1/batch/objects", { objects })).status).toBe(200);
    };
    const found = async () => {
      const query = "{ Get { Book(nearVector: {vector: [1, 0]}, limit: 300) { _additional { id } } } }";
      return JSON.parse((await http.graphql(query)).text).data.Get.Book.length;
    };
    await fill(0, 1);
    await server.restart();
    await fill(1, 100);
    expect(await found()).toBe(100);
    await server.restart();
    expect(await found()).toBe(100);
    await fill(100, 120);
    await server.restart();
    expect(await found()).toBe(120);
  });
});
