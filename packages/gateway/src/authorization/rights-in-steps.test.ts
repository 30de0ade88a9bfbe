import { ACTIONS, type Json, Permission, parsePermissions, RESOURCES, Rights, type Role } from "@shoal/model";
import type { AccessService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import type { HttpRequest } from "../http/http-request.js";
import { authzRoutes } from "../rest/authz-routes.js";
import { usersRoutes } from "../rest/users-routes.js";
import { CountedAccess } from "../testing/counted-access.js";
import { AccessBook } from "./access-book.js";
import { assignedEntry, roleEntry, storedRole, storedUser, userEntry } from "./access-state.js";
import { RightsInSteps } from "./rights-in-steps.js";

const SEED = Number(process.env.GATEWAY_SEED) || 21;

const readers = (...collections: string[]): Role => ({
  name: "r",
  permissions: parsePermissions(
    collections.map((collection) => ({ action: "read_data", data: { collection } })),
    "p",
  ),
});
const inSteps = (...roles: Role[]) => new RightsInSteps(new Rights(roles), {});

describe("rights that are looked at many times", () => {
  it(`decide as those that are compared one by one, seed ${SEED}`, async () => {
    const { below, oneIn, pick } = seededRandom(SEED);
    const actions = ["read_data", "read_roles", "read_nodes", "read_users", "read_cluster", "read_groups"] as const;
    const text = (most: number) => Array.from({ length: 1 + below(most) }, () => "AAb*"[below(4)]).join("");
    const drawn = () => {
      const action = pick(actions);
      const values = RESOURCES[ACTIONS[action]].map(({ words }) => pick(words ?? [oneIn(20) ? "*" : text(4)]));
      return new Permission(action, values);
    };
    const counts = { allowed: 0, covered: 0, all: 0 };
    for (let round = 0; round < 400; round++) {
      const roles = Array.from({ length: 1 + below(4) }, (_, at) => ({
        name: `r${at}`,
        permissions: Array.from({ length: below(12) }, drawn),
      }));
      const own = roles.flatMap(({ permissions }) => permissions);
      const rights = inSteps(...roles);
      for (let ask = 0; ask < 20; ask++) {
        const { action, values } = drawn();
        const names = oneIn(8) ? values.slice(0, below(values.length + 1)) : values;
        const isAllowed = own.some((one) => one.action === action && one.allows(names));
        if (isAllowed) counts.allowed++;
        expect(await rights.allows(action, names), `${action} ${names}`).toBe(isAllowed);
        expect(new Rights(roles).allows(action, names), `${action} ${names}`).toBe(isAllowed);
        const asked = Array.from({ length: below(3) }, () => (own.length > 0 && oneIn(4) ? pick(own) : drawn()));
        const isCovered = asked.map((one) => own.some((other) => other.covers(one)));
        for (const [at, one] of asked.entries()) {
          if (isCovered[at] === true) counts.covered++;
          expect(await rights.covers(one), `${one.action} ${one.values}`).toBe(isCovered[at]);
        }
        if (asked.length > 0 && isCovered.every(Boolean)) counts.all++;
        expect(await rights.coversAll(asked)).toBe(isCovered.every(Boolean));
      }
    }
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(300);
  });

  it("are not compared with what is written alike, begins otherwise, or was decided before", async () => {
    const patterns = Array.from({ length: 200 }, (_, at) => `*a*a*q${at}`);
    const same = inSteps(readers(...patterns), readers(...patterns));
    expect(await same.coversAll([...readers(...patterns).permissions, ...readers(...patterns).permissions])).toBe(true);
    expect(same.comparisons).toBe(0);
    // Two roles with the same permissions count once, and so does a question that is asked twice.
    const [other] = readers("*a*b").permissions;
    for (let round = 0; round < 2; round++) expect(await same.covers(other as Permission)).toBe(false);
    expect(same.comparisons).toBe(200);

    const tenants = inSteps(readers(...Array.from({ length: 200 }, (_, at) => `T${at}_*`)));
    expect(await tenants.allows("read_data", ["T77_Docs", "*", "*"])).toBe(true);
    expect(await tenants.allows("read_data", ["U77_Docs", "*", "*"])).toBe(false);
    expect(tenants.comparisons).toBe(1);

    const admin = inSteps(readers(...patterns), readers("*"));
    expect(await admin.coversAll(readers(...patterns.map((one) => `b${one}`)).permissions)).toBe(true);
    expect(admin.comparisons).toBe(200);
  });

  it("ends when whoever asked is gone", async () => {
    const patterns = (end: string) => Array.from({ length: 200 }, (_, at) => `*a*q${at}${end}`);
    const rights = new RightsInSteps(new Rights([readers(...patterns(""))]), {
      signal: AbortSignal.abort(new Error("gone")),
    });
    await expect(rights.coversAll(readers(...patterns("z")).permissions.slice(0, 1))).resolves.toBe(false);
    const narrower = readers(...patterns("").map((one) => `b${one}`));
    await expect(rights.coversAll(narrower.permissions)).rejects.toThrow("gone");
  });
});

const ROLES = 5;
const EACH = 199;

/** Ann may do all that the target may, but no permission is written alike; each takes half of hers to see that. */
function sharedAccess(): CountedAccess {
  const entries = new Map<string, Json>();
  const add = (name: string, permissions: readonly object[]) =>
    entries.set(
      roleEntry(name),
      storedRole({ id: `id-${name}`, permissions: parsePermissions(permissions, "permissions") }),
    );
  add("managers", [
    { action: "update_users", users: { users: "*" } },
    { action: "read_roles", roles: { role: "*" } },
    { action: "update_roles", roles: { role: "*" } },
    { action: "assign_and_revoke_users", users: { users: "*" } },
    ...Array.from({ length: 150 }, (_, at) => ({ action: "read_users", users: { users: `*q*${at}z` } })),
  ]);
  for (let at = 0; at < ROLES; at++) {
    const data = (of: (n: number) => string) =>
      Array.from({ length: EACH }, (_, n) => ({ action: "read_data", data: { collection: of(at * EACH + n) } }));
    add(
      `wide${at}`,
      data((n) => `*q${n}z`),
    );
    add(
      `narrow${at}`,
      data((n) => `*b*q${n}z`),
    );
  }
  add("beyond", [{ action: "delete_data", data: { collection: "*" } }]);
  const names = (kind: string) => Array.from({ length: ROLES }, (_, at) => `${kind}${at}/id-${kind}${at}`);
  entries.set(assignedEntry("user/db/ann"), ["managers/id-managers", ...names("wide")]);
  entries.set(assignedEntry("user/db/bob"), names("narrow"));
  for (let at = 0; at < 300; at++) {
    const name = `user${at}q`;
    entries.set(userEntry(name), storedUser({ name, digest: "d", keyStart: "k", isActive: true, createdMs: 1 }));
    entries.set(assignedEntry(`user/db/${name}`), ["beyond/id-beyond", "managers/id-managers"]);
  }
  for (const name of ["ann", "bob", "cid"])
    entries.set(userEntry(name), storedUser({ name, digest: "d", keyStart: "k", isActive: true, createdMs: 1 }));
  return new CountedAccess(entries);
}

function gateway(service: AccessService): AccessBook {
  return new AccessBook({
    service,
    roles: { rootUsers: ["root"], rootGroups: [], readOnlyGroups: [], staleSecondsMax: 0 },
    databaseUsers: true,
    otherKeys: [],
    nowMs: () => 0,
    newId: () => "new",
    newKey: () => "key",
    digestOf: (key) => Buffer.from(key),
  });
}

const ann = { username: "ann", userType: "db", groups: [] } as const;
const root = { username: "root", userType: "db", groups: [] } as const;
const CONTEXT: RequestContext = { deadline: Number.POSITIVE_INFINITY };

async function iterationsOf(work: () => Promise<unknown>): Promise<number> {
  using counter = new LoopCounter();
  await work();
  return counter.iterations;
}

describe("S10: what compares many rights yields to the event loop", () => {
  const routes = (book: AccessBook) => [...authzRoutes(book), ...usersRoutes(book)];
  const get = async (book: AccessBook, path: string, ...params: string[]) => {
    const route = routes(book).find((one) => one.method === "GET" && one.path === path);
    const request = { params, queryString: "", principal: ann, context: CONTEXT } as unknown as HttpRequest;
    const result = await route?.handle(request);
    return JSON.parse(String(result?.body)) as readonly unknown[];
  };

  it("a key that is rotated, a user that is switched off, roles that are given and taken away", async () => {
    const book = gateway(sharedAccess());
    const narrow = Array.from({ length: ROLES }, (_, at) => `narrow${at}`);
    for (const [work, least] of [
      [() => book.users.rotateKey("bob", ann, CONTEXT), 400],
      [() => book.users.deactivate("bob", false, ann, CONTEXT), 400],
      [() => book.users.activate("bob", ann, CONTEXT), 400],
      [() => book.assignments.assign({ kind: "user/db", name: "cid" }, narrow, ann, CONTEXT), 400],
      [() => book.assignments.revoke({ kind: "user/db", name: "cid" }, narrow, ann, CONTEXT), 400],
      [() => book.roles.addPermissions("narrow4", readers("*b*q7z").permissions, ann, CONTEXT), 100],
      [() => book.roles.removePermissions("narrow4", readers("*b*q7z").permissions, ann, CONTEXT), 100],
    ] as const) {
      expect(await iterationsOf(work)).toBeGreaterThan(least);
    }
  });

  it("lists of roles, of users, and of who has a role", async () => {
    const book = gateway(sharedAccess());
    for (const [path, least, ...params] of [
      ["/v1/authz/roles", 400],
      ["/v1/users/db", 30],
      ["/v1/authz/roles/{role}/users", 30, "managers"],
      ["/v1/authz/roles/{role}/user-assignments", 30, "managers"],
    ] as const) {
      let length = 0;
      expect(
        await iterationsOf(async () => {
          ({ length } = await get(book, path, ...params));
        }),
        path,
      ).toBeGreaterThan(least);
      // Those that she sees: her own roles, and the narrow ones; no user but herself where she has the role.
      expect(length, path).toBe(path === "/v1/authz/roles" ? 1 + 2 * ROLES : path === "/v1/users/db" ? 0 : 1);
    }
  });

  it("and decides on one state: what is changed between the steps counts", async () => {
    const service = sharedAccess();
    const [here, there] = [gateway(service), gateway(service)];
    const before = service.entries.get(userEntry("bob"));
    const rotated = here.users.rotateKey("bob", ann, CONTEXT).then(
      () => "rotated",
      (thrown: Error) => thrown.message,
    );
    await new Promise(setImmediate);
    await there.assignments.assign({ kind: "user/db", name: "bob" }, ["beyond"], root, CONTEXT);
    expect(await rotated).toContain("this user is allowed more than you are");
    expect([service.conflicts, service.entries.get(userEntry("bob")) === before]).toEqual([1, true]);

    await there.assignments.revoke({ kind: "user/db", name: "bob" }, ["beyond"], root, CONTEXT);
    const again = here.users.rotateKey("bob", ann, CONTEXT).catch((thrown: Error) => thrown.message);
    await new Promise(setImmediate);
    await there.assignments.revoke({ kind: "user/db", name: "ann" }, ["managers"], root, CONTEXT);
    expect(await again).toContain("insufficient permissions to update_users");
    expect([service.conflicts, service.entries.get(userEntry("bob")) === before]).toEqual([2, true]);
  });

  it("but compares nothing twice when something else is changed meanwhile", async () => {
    const service = sharedAccess();
    const [here, there] = [gateway(service), gateway(service)];
    const calm = await iterationsOf(() => here.users.rotateKey("bob", ann, CONTEXT));
    const disturbed = await iterationsOf(async () => {
      const rotated = here.users.rotateKey("bob", ann, CONTEXT);
      await new Promise(setImmediate);
      await there.users.create("dan", root, CONTEXT);
      await rotated;
    });
    expect(service.conflicts).toBe(1);
    expect(disturbed).toBeLessThan(calm * 1.5);
  });
});
