import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Permission, parsePermissions } from "@shoal/model";
import type { AccessSnapshot } from "@shoal/rpc";
import { describe, expect, it } from "vitest";
import { ANONYMOUS, type Principal } from "../auth/access.js";
import { stateOf } from "./access-state.js";
import { Authority } from "./authority.js";
import { Permissions } from "./permissions.js";
import { PermittedIngest } from "./permitted-ingest.js";
import { PermittedQueries } from "./permitted-queries.js";

const user = (username: string, userType: Principal["userType"] = "db", ...groups: string[]): Principal => {
  return { username, userType, groups };
};
const readers = (collection: string) => ({
  name: "r",
  permissions: parsePermissions([{ action: "read_data", data: { collection } }], "p"),
});

describe("what a user may do", () => {
  it("is told of classes by their stored names, and never of names that no class can have", () => {
    const permissions = new Permissions(user("ann"), [readers("Car*")], false);
    for (const name of ["Car", "car", "Cars"]) expect(permissions.mayRead(name), name).toBe(true);
    for (const name of ["CAR", "Boat", "", `Car${"s".repeat(300)}`])
      expect(permissions.mayRead(name), name).toBe(false);
    expect(permissions.mayKnow("Car")).toBe(true);
    expect(permissions.may("update_data", "Car")).toBe(false);
    expect(permissions.may("read_collections", `Car${"s".repeat(300)}`)).toBe(false);
    expect(() => permissions.require("read_data", "Boat")).toThrow(
      "authorization, forbidden action: user 'ann' has insufficient permissions to read_data [data{collection: Boat, tenant: *, object: *}]",
    );
    expect(() => permissions.requireEverywhere("read_data")).toThrow("insufficient");
    expect(() => new Permissions(user("ann"), [readers("*")], false).requireEverywhere("read_data")).not.toThrow();
  });

  it("is remembered of a bounded number of classes", () => {
    const permissions = new Permissions(user("ann"), [readers("C1*")], false);
    for (let round = 0; round < 5_000; round++)
      expect(permissions.mayRead(`C${round}`)).toBe(`C${round}`.startsWith("C1"));
  });
});

describe("what is remembered of classes", () => {
  it("keeps nothing of the requests that named them", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const heapBytes = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const permissions = new Permissions(user("ann"), [], false);
    const before = heapBytes();
    for (let i = 0; i < 1_000; i++) {
      const target = Buffer.alloc(14_000, `Class${i}Abcdefghijklmnopqrstuvwxyz`).toString("latin1");
      permissions.mayRead(target.slice(0, 200));
    }
    expect(heapBytes() - before).toBeLessThan(4_000_000);
    expect(permissions.mayRead("Car")).toBe(false);
  });

  it("is bounded for all users together", () => {
    const authority = new Authority({ rootUsers: [], rootGroups: [], readOnlyGroups: [], staleSecondsMax: 0 });
    const state = stateOf({ historyId: "h", version: 1, entries: new Map() });
    const isRemembered = (users: number, className: (at: number) => string): boolean => {
      const first = authority.permissionsOf(user("u0"), state);
      for (let one = 0; one < users; one++) {
        const permissions = authority.permissionsOf(user(`u${one}`), state);
        for (let at = 0; at < 2_000; at++) permissions.mayRead(className(at));
      }
      return authority.permissionsOf(user("u0"), state) === first;
    };
    expect(isRemembered(100, (at) => `Class${at}`)).toBe(true);
    expect(isRemembered(100, (at) => `${"C".repeat(240)}${at}`)).toBe(false);
  });
});

describe("who has which roles", () => {
  const one = { id: "1", permissions: [new Permission("read_cluster", []).toJson()] };
  const snapshot = (...assigned: readonly (readonly [string, readonly string[]])[]): AccessSnapshot => ({
    historyId: "h",
    version: 1,
    entries: new Map<string, never>([
      ["role/one", one as never],
      ["role/broken", 7 as never],
      ["role/later", { id: "2", permissions: [{ action: "fly" }] } as never],
      ...assigned.map(([key, roles]) => [`assigned/${key}`, roles as never] as const),
    ]),
  });
  const authority = new Authority({
    rootUsers: ["root"],
    rootGroups: ["ops"],
    readOnlyGroups: ["all"],
    staleSecondsMax: 0,
  });
  const rolesOf = (principal: Principal, state = stateOf(snapshot())) =>
    authority.permissionsOf(principal, state).roles.map(({ name }) => name);

  it("comes from the settings by name and by group, but never to anonymous by its name", () => {
    expect(rolesOf(user("root"))).toEqual(["root"]);
    expect(rolesOf(user("root", "oidc"))).toEqual(["root"]);
    expect(rolesOf(user("x", "oidc", "all", "ops"))).toEqual(["root", "read-only"]);
    expect(rolesOf({ ...ANONYMOUS, username: "root" })).toEqual([]);
    expect(authority.permissionsOf(user("root"), stateOf(snapshot())).isRoot).toBe(true);
  });

  it("is remembered for many users, and for fewer when their names are long", () => {
    const state = stateOf(snapshot());
    const isRemembered = (count: number, name: (at: number) => string): boolean => {
      const first = authority.permissionsOf(user(name(0)), state);
      for (let at = 1; at < count; at++) authority.permissionsOf(user(name(at)), state);
      return authority.permissionsOf(user(name(0)), state) === first;
    };
    expect(isRemembered(4_000, (at) => `short ${at}`)).toBe(true);
    expect(isRemembered(1_000, (at) => `long ${at} ${"x".repeat(16_000)}`)).toBe(false);
  });

  it("comes from what is assigned to this kind of user, and to groups of tokens", () => {
    const state = stateOf(
      snapshot(["user/db/ann", ["one/1", "viewer"]], ["user/oidc/bob", ["one/1"]], ["group/oidc/a/b", ["admin"]]),
    );
    expect(rolesOf(user("ann"), state)).toEqual(["one", "viewer"].map((name) => name));
    expect(rolesOf(user("ann", "oidc"), state)).toEqual([]);
    expect(rolesOf(user("bob"), state)).toEqual([]);
    expect(rolesOf(user("x", "oidc", "a/b"), state)).toEqual(["admin"]);
    expect(rolesOf(user("x", "db", "a/b"), state)).toEqual([]);
  });

  it("does not come from entries that are outdated, broken or made up", () => {
    const state = stateOf(
      snapshot(["user/db/ann", ["one/0", "one", "root", "read-only", "broken/1", "gone/1", "later/2"]]),
    );
    expect(rolesOf(user("ann"), state)).toEqual(["later"]);
    expect(state.roles.get("later")).toMatchObject({ permissions: [], isUnderstood: false });
    expect(state.roles.has("broken")).toBe(false);
  });

  it("is kept apart for names that look alike when they are joined", () => {
    const state = stateOf(snapshot(["group/oidc/g", ["admin"]]));
    expect(rolesOf(user("a", "oidc", "g"), state)).toEqual(["admin"]);
    for (const name of ["a 1 g", "a\ng", "a g"]) expect(rolesOf(user(name, "oidc"), state), name).toEqual([]);
    expect(rolesOf(user("a", "oidc", "g x", "1 g"), state)).toEqual([]);
  });
});

describe("services where roles are on", () => {
  it("do nothing for a request that has lost its rights", async () => {
    const nobody = new Proxy({}, { get: () => () => expect.unreachable() });
    const context = { deadline: Number.POSITIVE_INFINITY };
    const queries = new PermittedQueries(nobody as never);
    const ingest = new PermittedIngest(nobody as never, () => "id");
    const calls = [
      ...(["get", "explore", "aggregate", "list"] as const).map((name) => queries[name]({} as never, context)),
      queries.objectById("id" as never, {} as never, context),
      queries.additional([], [], "restList", context),
      ...(["createObject", "validateObject"] as const).map((name) => ingest[name]({} as never, context)),
      ...(["replaceObject", "mergeObject"] as const).map((name) => ingest[name]("id" as never, {} as never, context)),
      ingest.deleteObject("id" as never, context),
      ingest.importObjects([], context),
      ingest.importReferences([], context),
      ingest.addReference("id" as never, "p", "b", context),
      ingest.replaceReferences("id" as never, "p", [], context),
      ingest.removeReferences("id" as never, "p", [], context),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "internal" } });
    }
  });
});
