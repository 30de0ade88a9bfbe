import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at } from "../http-client.js";
import type { ServerProcess } from "../server-process.js";
import { startRolesServer, UserClient } from "../testing/roles-server.js";

const ITEMS = 6_000;
let folder: string;
let server: ServerProcess;
let root: UserClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-audit-"));
  server = await startRolesServer({ AUDIT_LOG: join(folder, "audit.log") });
  root = UserClient.of(server.url, "root");
  await root.expect(200, "POST", "/v1/schema", { class: "Label" });
  await root.expect(200, "POST", "/v1/schema", {
    class: "Item",
    properties: [
      { name: "name", dataType: ["text"] },
      { name: "label", dataType: ["Label"] },
    ],
  });
  const label = "00000000-0000-4000-8000-00000000001a";
  await root.expect(200, "POST", "/v1/objects", { class: "Label", id: label, vector: [1, 1] });
  const items = Array.from({ length: ITEMS }, (_, n) => ({
    class: "Item",
    properties: { name: `n${n}`, ...(n < 10 ? { label: [{ beacon: `weaviate://localhost/${label}` }] } : {}) },
    vector: [1, n],
  }));
  await root.expect(200, "POST", "/v1/batch/objects", { objects: items });
  const permissions = ["read", "update"].map((verb) => ({ action: `${verb}_data`, data: { collection: "Item" } }));
  await root.expect(201, "POST", "/v1/authz/roles", { name: "items", permissions });
  const labels = [{ action: "read_data", data: { collection: "Label" } }];
  await root.expect(201, "POST", "/v1/authz/roles", { name: "labels", permissions: labels });
}, 120_000);
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const BODY = { type: "knn", class: "Item", classifyProperties: ["label"], basedOnProperties: ["name"] };

async function newUser(name: string): Promise<UserClient> {
  const { json } = await root.expect(201, "POST", `/v1/users/db/${name}`, {});
  await root.expect(200, "POST", `/v1/authz/users/${name}/assign`, { roles: ["items", "labels"], userType: "db" });
  return new UserClient(server.url, String(at(json, "apikey")));
}

async function ended(id: string): Promise<unknown> {
  for (let round = 0; round < 600; round++) {
    const { json } = await root.expect(200, "GET", `/v1/classifications/${id}`);
    if (at(json, "status") !== "running") return json;
    await sleep(100);
  }
  throw new Error("the classification does not end");
}

async function auditLines(): Promise<readonly object[]> {
  const text = await readFile(join(folder, "audit.log"), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as object);
}

async function labelled(): Promise<number> {
  const where = '(where: {path: ["label"], operator: GreaterThan, valueInt: 0})';
  return Number(
    await root.rows(`{ Aggregate { Item${where} { meta { count } } } }`, "Aggregate", "Item", "0", "meta", "count"),
  );
}

describe("S-roles: a classification goes on only as long as its starter may do it", () => {
  it.each([
    [
      "a role is revoked",
      "update_data",
      ["POST", "/v1/authz/users/NAME/revoke", { roles: ["items"], userType: "db" }, 200],
    ],
    [
      "a class that it refers to is hidden",
      "read_data",
      ["POST", "/v1/authz/users/NAME/revoke", { roles: ["labels"], userType: "db" }, 200],
    ],
    ["he is switched off", "update_data", ["POST", "/v1/users/db/NAME/deactivate", {}, 200]],
    ["he is deleted", "update_data", ["DELETE", "/v1/users/db/NAME", undefined, 204]],
  ] as const)(
    "%s",
    async (what, action, [method, path, body, status]) => {
      const name = `u-${what.replaceAll(" ", "-")}`;
      const user = await newUser(name);
      const { json } = await user.expect(201, "POST", "/v1/classifications", BODY);
      await root.expect(status, method, path.replace("NAME", name), body);
      const record = await ended(String(at(json, "id")));
      expect(at(record, "status")).toBe("failed");
      expect(String(at(record, "error"))).toContain(
        `user '${name}' has insufficient permissions to ${action} [data{collection: ${action === "read_data" ? "Label" : "Item"}`,
      );
      expect(JSON.stringify(record)).not.toContain("startedBy");
      expect(await labelled()).toBeLessThan(ITEMS);
      const denied = { action: "continue_classification", outcome: "denied", user: name, userType: "db" };
      const subject = { class: "Item", id: at(json, "id"), reason: expect.stringContaining(action) };
      await expect.poll(auditLines).toContainEqual(expect.objectContaining({ ...denied, ...subject }));
    },
    60_000,
  );

  it("one that goes on after a kill looks again", async () => {
    const user = await newUser("killed");
    const { json } = await user.expect(201, "POST", "/v1/classifications", BODY);
    const id = String(at(json, "id"));
    await server.kill();
    await server.launch();
    await server.ready();
    await root.expect(204, "DELETE", "/v1/users/db/killed");
    const record = await ended(id);
    expect(String(at(record, "error"))).toContain("user 'killed' has insufficient permissions to update_data");
  }, 60_000);
});
