import { mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { at } from "../http-client.js";
import { lacks } from "../needs.js";
import { freePort, runServer, ServerProcess } from "../server-process.js";
import { SmallDisk } from "../small-disk.js";

type Line = Readonly<Record<string, unknown>>;

const KEY = "ada-key-0123456789";
const READER = "rita-key-0123456789";
const SETTINGS = {
  AUTHENTICATION_APIKEY_ENABLED: "true",
  AUTHENTICATION_APIKEY_ALLOWED_KEYS: `${KEY},${READER}`,
  AUTHENTICATION_APIKEY_USERS: "ada,rita",
  AUTHORIZATION_ADMINLIST_ENABLED: "true",
  AUTHORIZATION_ADMINLIST_USERS: "ada",
  AUTHORIZATION_ADMINLIST_READONLY_USERS: "rita",
};
const ada = { Authorization: `Bearer ${KEY}` };
const rita = { Authorization: `Bearer ${READER}` };
const ID = "00000000-0000-4000-8000-000000000001";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-audit-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Every line is JSON, or this fails. */
const parsed = (text: string): readonly Line[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

const readLines = async (path: string): Promise<readonly Line[]> => parsed(await readFile(path, "utf8"));

const start = (env: Record<string, string>): Promise<ServerProcess> =>
  ServerProcess.start({ env: { ...SETTINGS, ...env } });

describe("S8: the audit log", () => {
  it("tells who did what to what and how it ended, and never what was stored or how it was allowed", async () => {
    const path = join(folder, "audit.log");
    await using server = await start({ AUDIT_LOG: path, WIRE_PROFILE: "weaviate" });
    const { http } = server;
    const property = { name: "text", dataType: ["text"] };
    const reference = { name: "next", dataType: ["Told"] };
    const object = { class: "Told", id: ID, vector: [1, 0.53125], properties: { text: "a stored secret" } };
    const beacon = { beacon: `weaviate://localhost/${ID}` };
    const ok = async (...request: Parameters<typeof http.send>) => {
      const answer = await http.send(...request);
      expect([200, 201, 204], `${request[0]} ${request[1]} ${answer.status} ${answer.text}`).toContain(answer.status);
      return answer;
    };
    await ok("POST", "/v1/schema", { class: "Told", properties: [property] }, ada);
    await ok("POST", "/v1/schema/Told/properties", reference, ada);
    await ok("POST", "/v1/objects", object, ada);
    await ok("PUT", `/v1/objects/${ID}`, object, ada);
    await ok("PATCH", `/v1/objects/${ID}`, { class: "Told", properties: { text: "another secret" } }, ada);
    await ok("POST", `/v1/objects/${ID}/references/next`, beacon, ada);
    await ok("PUT", `/v1/objects/${ID}/references/next`, [beacon], ada);
    await ok("DELETE", `/v1/objects/${ID}/references/next`, beacon, ada);
    const items = [
      { class: "Told", vector: [1, 1] },
      { class: "Told", vector: [1, 1] },
      { class: "Told", vector: [1] },
    ];
    await ok("POST", "/v1/batch/objects", { objects: items }, ada);
    await ok(
      "POST",
      "/v1/batch/references",
      [{ from: `${beacon.beacon.replace(ID, `Told/${ID}`)}/next`, to: beacon.beacon }],
      ada,
    );
    await ok("POST", "/v1/objects", { class: "Unseen", properties: { fresh: "x" }, vector: [1] }, ada);
    await ok("PUT", "/v1/schema/Told", { class: "Told", description: "told", properties: [property, reference] }, ada);
    const knn = {
      class: "Told",
      type: "knn",
      classifyProperties: ["next"],
      basedOnProperties: ["text"],
      settings: { k: 1 },
    };
    const job = await http.post("/v1/classifications", knn, ada);
    await ok("DELETE", `/v1/objects/${ID}`, undefined, ada);
    await ok("DELETE", "/v1/schema/Told", undefined, ada);
    // What is refused, and what fails.
    expect((await http.delete("/v1/schema/Unseen", rita)).status).toBe(403);
    expect((await http.get("/v1/objects?access_token=a-wrong-key")).status).toBe(401);
    expect((await http.post("/v1/objects", { class: "Unseen", vector: [1], id: "x" }, ada)).status).toBe(422);
    expect((await http.post("/v1/schema", { class: "unseen" }, ada)).status).toBe(422);
    // Reads are nobody's business.
    await ok("GET", "/v1/schema", undefined, rita);
    await ok("POST", "/v1/graphql", { query: "{ Get { Unseen { fresh } } }" }, rita);
    await server.stop();

    const lines = await readLines(path);
    const told = lines.map(({ action, outcome, class: name, user }) => [action, outcome, name, user].join(" "));
    for (const expected of [
      "create_class allowed Told ada",
      "add_property allowed Told ada",
      "create_object allowed Told ada",
      "replace_object allowed Told ada",
      "merge_object allowed Told ada",
      "add_reference allowed Told ada",
      "replace_references allowed Told ada",
      "remove_references allowed Told ada",
      "import_objects allowed Told ada",
      "import_references allowed Told ada",
      "create_class allowed Unseen ada",
      "update_class allowed Told ada",
      "delete_object allowed Told ada",
      "delete_class allowed Told ada",
      "delete_class denied Unseen rita",
      "list denied  ",
      "create_object failed  ada",
      "create_class failed Unseen ada",
      `start_classification ${job.status === 201 ? "allowed Told" : "failed "} ada`,
    ]) {
      expect(
        told.filter((one) => one === expected),
        expected,
      ).toHaveLength(1);
    }
    expect(lines).toHaveLength(19 + 2 + 1);
    const by = (action: string) => lines.find((line) => line.action === action);
    expect(by("import_objects")).toMatchObject({ requests: 1, accepted: 2, refused: 1 });
    expect(by("delete_class")).toMatchObject({
      ...{ userType: "db", address: "127.0.0.1", status: 200, route: "DELETE /v1/schema/{class}" },
      ...{ requestId: expect.any(String), time: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    const place = (action: string) => lines.findIndex((line) => line.action === action);
    expect(place("delete_object")).toBeLessThan(place("delete_class"));
    expect(lines.find(({ outcome, status }) => outcome === "denied" && status === 401)?.reason).toBe(
      "unauthorized: invalid api key",
    );
    const all = JSON.stringify(lines);
    for (const secret of [KEY, READER, "a-wrong-key", "secret", "0.53125"]) expect(all).not.toContain(secret);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("counts writes and refusals, however many there are, and stays one line an event whatever is sent", async () => {
    const path = join(folder, "audit.log");
    await using server = await start({ AUDIT_LOG: path });
    const { http } = server;
    await http.post("/v1/schema", { class: "Many" }, ada);
    for (let round = 0; round < 20; round++) {
      await Promise.all(
        Array.from({ length: 50 }, (_, i) => [
          http.post("/v1/objects", { class: "Many", vector: [round, i] }, ada),
          http.delete(`/v1/schema/Made%0aUp%22${round}${i}`, { Authorization: `Bearer wrong-${round}-${i}` }),
          http.post("/v1/objects", { class: `Nothing\n"${round}${i}`, vector: "x" }, ada),
        ]).flat(),
      );
    }
    await server.stop();
    const lines = await readLines(path);
    const sum = (action: string, outcome: string) =>
      lines
        .filter((line) => line.action === action && line.outcome === outcome)
        .reduce((all, { requests }) => all + Number(requests), 0);
    expect(sum("create_object", "allowed")).toBe(1_000);
    expect(sum("delete_class", "denied")).toBe(1_000);
    expect(sum("create_object", "failed")).toBe(1_000);
    // A line of each kind and window.
    expect(lines.length).toBeLessThan(40);
  });

  it("has no key that stood before the host of a URL, nor has the log", async () => {
    const path = join(folder, "audit.log");
    await using server = await start({ AUDIT_LOG: path, LOG_LEVEL: "debug" });
    const { port } = new URL(server.url);
    const key = "key-in-a-url-0123456789";
    const statuses = ["/v1/schema", "/v1/nowhere"].map(
      (end) =>
        new Promise((resolve, reject) => {
          const target = `http://ada:${key}@127.0.0.1:${port}${end}`;
          const asked = request({ host: "127.0.0.1", port, path: target }, (answer) => {
            answer.resume();
            resolve(answer.statusCode);
          });
          asked.on("error", reject).end();
        }),
    );
    expect(await Promise.all(statuses)).toEqual([403, 403]);
    await server.stop();
    const text = await readFile(path, "utf8");
    expect(text).toContain('"path":"http://127.0.0.1:');
    expect(text).not.toContain(key);
    expect(server.output).toContain("is no name of this server");
    expect(server.output).not.toContain(key);
  });

  it("of two processes in one file is whole, and goes on in another file after a rotation", async () => {
    const path = join(folder, "audit.log");
    const servers = await Promise.all([start({ AUDIT_LOG: path }), start({ AUDIT_LOG: path })]);
    const change = async (name: string) => {
      const answers = servers.map(({ http }) => http.post("/v1/schema", { class: name }, ada));
      for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
    };
    try {
      for (let i = 0; i < 30; i++) await change(`Before${i}`);
      await vi.waitFor(async () => expect((await readLines(path)).length).toBe(62));
      await rename(path, `${path}.1`);
      for (const server of servers) server.signal("SIGHUP");
      for (let i = 0; i < 30; i++) await change(`After${i}`);
      await Promise.all(servers.map((server) => server.stop()));
      const [former, latter] = await Promise.all([readLines(`${path}.1`), readLines(path)]);
      for (const [lines, prefix] of [
        [former, "Before"],
        [latter, "After"],
      ] as const) {
        const names = lines.filter(({ action }) => action === "create_class").map(({ class: name }) => String(name));
        expect(names.length).toBe(60);
        expect(names.every((name) => name.startsWith(prefix))).toBe(true);
        expect(new Set(lines.map(({ server }) => server)).size).toBe(2);
      }
    } finally {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    }
  });

  it.skipIf(lacks("root", "mount"))("survives a full disk, and says what is missing (needs root, mount)", async () => {
    using disk = new SmallDisk(1);
    const path = join(disk.folder, "audit.log");
    const metricsPort = await freePort();
    await using server = await start({ AUDIT_LOG: path, METRICS_PORT: String(metricsPort) });
    const { http } = server;
    await disk.fill(0);
    // Lines of their own: each names its class.
    for (let i = 0; i < 300; i++) {
      expect((await http.post("/v1/schema", { class: `Full${i}` }, ada)).status).toBe(200);
    }
    await vi.waitFor(() => expect(server.output).toContain("the audit log cannot be written"));
    await disk.free();
    await vi.waitFor(() => expect(server.output).toContain("the audit log is written again"), { timeout: 20_000 });
    await http.post("/v1/schema", { class: "Free" }, ada);
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toContain('shoal_audit_lines_total{outcome="dropped"} 0');
    await server.stop();
    const names = (await readLines(path))
      .filter(({ action }) => action === "create_class")
      .map(({ class: name }) => name);
    expect(names).toEqual([...Array.from({ length: 300 }, (_, i) => `Full${i}`), "Free"]);
  });

  it("goes to stdout", async () => {
    await using server = await start({ AUDIT_LOG: "stdout" });
    await server.http.post("/v1/schema", { class: "Out" }, ada);
    await server.stop();
    const lines = server.stdout.split("\n").filter((line) => line.startsWith("{"));
    expect(lines.map((line) => at(JSON.parse(line), "action"))).toEqual(["start_audit", "create_class", "stop_audit"]);
  });

  it.each(["on", "audit.log", "/"])("cannot be called %s, and must be a file that can be opened", async (target) => {
    const { code, stderr } = await runServer({ AUDIT_LOG: target, PERSISTENCE_DATA_PATH: folder, PORT: "0" });
    expect([code, stderr.includes("AUDIT_LOG must be off, stdout, or a path with a slash in it")]).toEqual([1, true]);
    const missing = join(folder, "nowhere", "audit.log");
    const unopened = await runServer({ AUDIT_LOG: missing, PERSISTENCE_DATA_PATH: folder, PORT: "0" });
    expect([unopened.code, unopened.stderr.includes("cannot be opened: ENOENT")]).toEqual([1, true]);
  });
});

describe("S8: roles and users", () => {
  it("stand in the log when they are changed, by whom and whose, and keys do not", async () => {
    const path = join(folder, "audit.log");
    const settings = {
      ...SETTINGS,
      AUTHORIZATION_ADMINLIST_ENABLED: "false",
      AUTHORIZATION_ADMINLIST_USERS: "",
      AUTHORIZATION_ADMINLIST_READONLY_USERS: "",
      AUTHORIZATION_RBAC_ENABLED: "true",
      AUTHORIZATION_RBAC_ROOT_USERS: "ada",
      AUTHENTICATION_DB_USERS_ENABLED: "true",
      AUDIT_LOG: path,
    };
    const server = await ServerProcess.start({ env: settings });
    const send = (method: string, route: string, body?: unknown, headers: Record<string, string> = ada) =>
      server.http.send(method, route, body, headers);
    const permissions = ["create_data", "update_data"].map((action) => ({ action, data: { collection: "Car" } }));
    expect((await send("POST", "/v1/authz/roles", { name: "seller", permissions })).status).toBe(201);
    const made = await send("POST", "/v1/users/db/mia");
    expect(made.status).toBe(201);
    const key = String(at(made.json, "apikey"));
    const long = [..."yz"].map((letter) => letter.repeat(128));
    for (const name of long) {
      expect((await send("POST", "/v1/authz/roles", { name, permissions: permissions.slice(0, 1) })).status).toBe(201);
    }
    const assigned = { roles: [...long, "seller"], userType: "db" };
    expect((await send("POST", "/v1/authz/users/mia/assign", assigned)).status).toBe(200);
    const mia = { Authorization: `Bearer ${key}` };
    expect((await send("POST", "/v1/authz/users/mia/assign", { roles: ["admin"], userType: "db" }, mia)).status).toBe(
      403,
    );
    for (const whom of ["mia", "ben"]) {
      const body = { roles: ["viewer"], userType: "db" };
      expect((await send("POST", `/v1/authz/users/${whom}/revoke`, body, mia)).status).toBe(403);
    }
    expect((await send("POST", "/v1/batch/objects", { objects: [{ class: "Safe" }] }, mia)).status).toBe(200);
    const creator = [{ action: "create_data", data: { collection: "Half" } }];
    expect((await send("POST", "/v1/authz/roles/seller/add-permissions", { permissions: creator })).status).toBe(200);
    expect((await send("POST", "/v1/batch/objects", { objects: [{ class: "Half" }] }, mia)).status).toBe(200);
    expect((await send("POST", "/v1/users/db/mia/rotate-key")).status).toBe(200);
    expect((await send("DELETE", "/v1/authz/roles/seller")).status).toBe(204);
    await server.stop();
    const text = await readFile(path, "utf8");
    expect(text).not.toContain(key);
    const lines = parsed(text).filter((line) => !String(line.action).endsWith("_audit"));
    expect(lines.find(({ resource }) => resource === "Safe")).toMatchObject({
      action: "create_data",
      outcome: "denied",
      user: "mia",
    });
    expect(lines.find(({ action }) => action === "import_objects")).toMatchObject({
      user: "mia",
      accepted: 0,
      refused: 1,
    });
    expect(lines.find(({ resource }) => resource === "Half")).toMatchObject({ action: "update_data" });
    const changes = lines.filter(
      ({ action, resource }) => action !== "import_objects" && resource !== "Safe" && resource !== "Half",
    );
    expect(changes).toMatchObject([
      { action: "create_role", outcome: "allowed", user: "ada", role: "seller" },
      { action: "create_user", outcome: "allowed", user: "ada", targetUser: "mia" },
      ...long.map((role) => ({ action: "create_role", role })),
      { action: "assign_roles", outcome: "allowed", user: "ada", targetUser: "mia", roles: [...long, "seller"] },
      // Whose rights it was about is told of each.
      { action: "assign_roles", outcome: "denied", user: "mia", userType: "db", targetUser: "mia" },
      { action: "revoke_roles", outcome: "denied", user: "mia", targetUser: "mia" },
      { action: "revoke_roles", outcome: "denied", user: "mia", targetUser: "ben" },
      { action: "add_permissions", outcome: "allowed", role: "seller" },
      { action: "rotate_key", outcome: "allowed", targetUser: "mia" },
      { action: "delete_role", outcome: "allowed", role: "seller" },
    ]);
    expect(String(changes[0]?.permissions)).toContain("update_data");
  });
});
