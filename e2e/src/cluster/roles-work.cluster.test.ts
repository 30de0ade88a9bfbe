import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at } from "../http-client.js";
import { rolesSettings, UserClient } from "../testing/roles-server.js";
import { type Cluster, withCluster } from "./cluster.js";
import type { ClusterOptions } from "./cluster-options.js";

const SOON = { timeout: 60_000, interval: 100 };
const DATA = ["create", "read", "update", "delete"].map((verb) => `${verb}_data`);

interface Ground {
  readonly cluster: Cluster;
  readonly urls: readonly [string, string];
  readonly root: UserClient;
  /** Keys of users who may do everything to objects, and this to classes. */
  keyOf(name: string, ...collections: readonly string[]): Promise<string>;
  auditLines(): readonly Readonly<Record<string, unknown>>[];
}

async function withGround(options: ClusterOptions, test: (ground: Ground) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-audit-"));
  const file = join(folder, "audit.log");
  try {
    const env = rolesSettings({ AUDIT_LOG: file });
    const size = { gateways: 2, storageNodes: 2, etcdMembers: 0, coordinators: 1 } as const;
    await withCluster({ ...size, env, ...options }, async (cluster) => {
      const [first, second] = cluster.gateways;
      if (first === undefined || second === undefined) throw new Error("there are two gateways");
      const root = UserClient.of(first.url, "root");
      const keyOf = async (name: string, ...collections: readonly string[]) => {
        const permissions = [
          ...DATA.map((action) => ({ action, data: { collection: "*" } })),
          ...collections.map((verb) => ({ action: `${verb}_collections`, collections: { collection: "*" } })),
        ];
        await root.expect(201, "POST", "/v1/authz/roles", { name, permissions });
        const { json } = await root.expect(201, "POST", `/v1/users/db/${name}`, {});
        await root.expect(200, "POST", `/v1/authz/users/${name}/assign`, { roles: [name], userType: "db" });
        return String(at(json, "apikey"));
      };
      const auditLines = () =>
        readFileSync(file, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as Record<string, unknown>);
      await test({ cluster, urls: [first.url, second.url], root, keyOf, auditLines });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until a user is known at a gateway. */
async function known(url: string, key: string): Promise<UserClient> {
  const user = new UserClient(url, key);
  await expect.poll(async () => (await user.get("/v1/objects")).status, SOON).toBe(200);
  return user;
}

const ITEMS = 8_000;
const LABEL = "00000000-0000-4000-8000-00000000001a";

async function makeItems(root: UserClient): Promise<void> {
  await root.expect(200, "POST", "/v1/schema", { class: "Label" });
  const properties = [
    { name: "name", dataType: ["text"] },
    { name: "label", dataType: ["Label"] },
  ];
  await root.expect(200, "POST", "/v1/schema", { class: "Item", properties });
  await root.expect(200, "POST", "/v1/objects", { class: "Label", id: LABEL, vector: [1, 1] });
  const label = [{ beacon: `weaviate://localhost/${LABEL}` }];
  const objects = Array.from({ length: ITEMS }, (_, n) => ({
    class: "Item",
    properties: { name: `n${n}`, ...(n < 10 ? { label } : {}) },
    vector: [1, n],
  }));
  await root.expect(200, "POST", "/v1/batch/objects", { objects });
}

const BODY = { type: "knn", class: "Item", classifyProperties: ["label"], basedOnProperties: ["name"] };

async function ended(user: UserClient, id: string): Promise<unknown> {
  let record: unknown;
  await expect
    .poll(async () => {
      record = (await user.get(`/v1/classifications/${id}`)).json;
      return at(record, "status");
    }, SOON)
    .toMatch(/completed|failed/);
  return record;
}

describe("S-roles: what goes on in a cluster", () => {
  it("auto-schema of two gateways at once: each user changes what he may, and the audit names who did it", async () => {
    await withGround({}, async ({ urls, root, keyOf, auditLines }) => {
      const maker = await known(urls[0], await keyOf("maker", "create"));
      const grower = await known(urls[1], await keyOf("grower", "create", "update"));
      const outcomes = new Map<string, readonly number[]>();
      for (let round = 0; round < 25; round++) {
        const className = `Race${round}`;
        const body = (name: string) => ({ class: className, properties: { [name]: "x" }, vector: [1, 2] });
        const [mine, theirs] = await Promise.all([
          maker.send("POST", "/v1/objects", body("mine")),
          grower.send("POST", "/v1/objects", body("theirs")),
        ]);
        outcomes.set(className, [mine.status, theirs.status]);
      }
      const lines = auditLines().filter(({ by }) => by === "auto-schema");
      for (const [className, [mine, theirs]] of outcomes) {
        const ofClass = lines.filter((line) => line.class === className);
        const made = ofClass.filter(({ action }) => action === "create_class");
        expect(made, className).toHaveLength(1);
        const byMaker = made[0]?.user === "maker";
        expect([className, mine, theirs]).toEqual([className, byMaker ? 200 : 403, 200]);
        const { json } = await root.expect(200, "GET", `/v1/schema/${className}`);
        const names = (at(json, "properties") as object[]).map((one) => String(at(one, "name"))).sort();
        expect(names).toEqual(byMaker ? ["mine", "theirs"] : ["theirs"]);
        const said = ofClass.flatMap(({ user, properties }) => (properties as string[]).map((name) => [name, user]));
        const owners = { mine: "maker", theirs: "grower" } as const;
        expect(said.sort()).toEqual(names.map((name) => [name, owners[name as keyof typeof owners]]));
      }
    });
  });

  it("a classification that another gateway takes over ends when its starter is gone", async () => {
    await withGround({}, async ({ cluster, urls, root, keyOf }) => {
      await makeItems(root);
      const otherRoot = UserClient.of(urls[1], "root");
      const ann = await known(urls[0], await keyOf("ann"));
      const { json } = await ann.expect(201, "POST", "/v1/classifications", BODY);
      await cluster.gateways[0]?.kill();
      await otherRoot.expect(204, "DELETE", "/v1/users/db/ann");
      const record = await ended(otherRoot, String(at(json, "id")));
      expect(at(record, "status")).toBe("failed");
      expect(String(at(record, "error"))).toContain("user 'ann' has insufficient permissions to update_data");
    });
  });

  it("a classification whose starter only one gateway knows is left to it by the others", async () => {
    await withGround({}, async ({ cluster, root }) => {
      await makeItems(root);
      const keys = rolesSettings().AUTHENTICATION_APIKEY_ALLOWED_KEYS;
      const users = rolesSettings().AUTHENTICATION_APIKEY_USERS;
      const gateways = await cluster.addGateways(1, {
        AUTHENTICATION_APIKEY_ALLOWED_KEYS: `${keys},key-of-guest-0123456789`,
        AUTHENTICATION_APIKEY_USERS: `${users},guest`,
      });
      const url = gateways.members[0]?.url ?? "";
      await UserClient.of(url, "root").expect(200, "POST", "/v1/authz/users/guest/assign", {
        roles: ["admin"],
        userType: "db",
      });
      const guest = await known(url, "key-of-guest-0123456789");
      const ids: string[] = [];
      for (let round = 0; round < 3; round++) {
        const { json } = await guest.expect(201, "POST", "/v1/classifications", BODY);
        ids.push(String(at(json, "id")));
      }
      const records = await Promise.all(ids.map((id) => ended(root, id)));
      // Those that find nothing to do any more fail because of that.
      for (const record of records) expect(String(at(record, "error") ?? "")).not.toContain("guest");
      expect(records.map((record) => at(record, "status"))).toContain("completed");
      const open = '(where: {path: ["label"], operator: Equal, valueInt: 0})';
      const query = `{ Aggregate { Item${open} { meta { count } } } }`;
      expect(await root.rows(query, "Aggregate", "Item", "0", "meta", "count")).toBe(0);
    });
  });

  it("a classification that waits for a node that stands still, while the schema changes, looks again when it goes on", async () => {
    await withGround({}, async ({ cluster, urls, root, keyOf }) => {
      await makeItems(root);
      const ann = await known(urls[1], await keyOf("ann"));
      const { json } = await ann.expect(201, "POST", "/v1/classifications", BODY);
      const [, node] = cluster.storageNodes;
      node?.pause();
      await root.expect(200, "POST", "/v1/schema/Item/properties", { name: "more", dataType: ["text"] });
      await root.expect(200, "POST", "/v1/authz/users/ann/revoke", { roles: ["ann"], userType: "db" });
      // Who may do nothing does not wait for the node.
      expect((await UserClient.of(urls[1], "none").get(`/v1/objects/${LABEL}`)).status).toBe(403);
      node?.resume();
      const record = await ended(root, String(at(json, "id")));
      expect(at(record, "status")).toBe("failed");
      expect(String(at(record, "error"))).toContain("user 'ann' has insufficient permissions to update_data");
    });
  });
});
