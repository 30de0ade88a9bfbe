import { describe, expect, it } from "vitest";
import { ACTIONS, isAction, Permission, parsePermission } from "./permission.js";
import { Rights } from "./rights.js";
import { BUILT_IN_ROLES, checkRoleName, parsePermissions, shownRole } from "./role.js";

const rightsOf = (...permissions: unknown[]) =>
  new Rights([{ name: "r", permissions: parsePermissions(permissions, "permissions") }]);
const refusal = (given: unknown) => {
  try {
    parsePermission(given, "p");
    return "accepted";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("a permission", () => {
  it("is read and shown as the reference writes it", () => {
    for (const [given, shown = given] of [
      [{ action: "read_cluster" }],
      [{ action: "read_data", data: { collection: "Car*", tenant: "T1", object: "*" } }],
      [
        { action: "read_data", data: { collection: "car", filter: "*", more: null }, roles: null },
        { action: "read_data", data: { collection: "Car", tenant: "*", object: "*" } },
      ],
      [
        { action: "create_roles", roles: { role: "x-*" } },
        { action: "create_roles", roles: { role: "x-*", scope: "match" } },
      ],
      [
        { action: "read_nodes", nodes: {} },
        { action: "read_nodes", nodes: { verbosity: "minimal", collection: "*" } },
      ],
      [
        { action: "read_groups", groups: { group: "/a/b" } },
        { action: "read_groups", groups: { group: "/a/b", groupType: "oidc" } },
      ],
    ]) {
      expect(parsePermission(given, "p").toJson()).toEqual(shown);
    }
  });

  it("is refused where it would be wider than it was meant, or cannot be kept", () => {
    expect(refusal(null)).toContain("p must be an object");
    expect(refusal({})).toContain("p.action must be one of manage_backups, ");
    expect(refusal({ action: "constructor" })).toContain('got "constructor"');
    expect(refusal({ action: "read_data" })).toContain("p.data must be an object");
    expect(refusal({ action: "read_data", data: {} })).toContain("p.data.collection must be a name or a pattern");
    expect(refusal({ action: "read_data", data: { collection: "" } })).toContain("must be a name or a pattern");
    expect(refusal({ action: "read_data", data: { collection: ["A"] } })).toContain("must be a name or a pattern");
    expect(refusal({ action: "read_data", data: { collections: "A", collection: "*" } })).toContain("is no member");
    expect(refusal({ action: "read_data", data: { collection: "A", object: "x" } })).toContain("p.data.object must be");
    expect(refusal({ action: "read_data", data: { collection: "A" }, users: { users: "*" } })).toContain(
      "p.users does",
    );
    expect(refusal({ action: "read_data", data: { collection: "A".repeat(257) } })).toContain("257 characters");
    expect(refusal({ action: "read_data", data: { collection: "A\u0000" } })).toContain("control characters");
    expect(refusal({ action: "read_roles", roles: { role: "*", scope: "ALL" } })).toContain("'match' or 'all'");
    expect(refusal({ action: "read_groups", groups: { group: "*", groupType: "db" } })).toContain("'oidc'");
  });

  it("covers what it includes, also of words", () => {
    const p = (action: keyof typeof ACTIONS, ...values: string[]) => new Permission(action, values);
    expect(p("read_data", "Car*", "*", "*").covers(p("read_data", "Cars", "T", "*"))).toBe(true);
    expect(p("read_data", "Car*", "T", "*").covers(p("read_data", "Cars", "*", "*"))).toBe(false);
    expect(p("read_data", "Car*", "*", "*").covers(p("read_data", "*", "*", "*"))).toBe(false);
    expect(p("read_data", "*", "*", "*").covers(p("update_data", "A", "*", "*"))).toBe(false);
    expect(p("read_roles", "*", "all").covers(p("read_roles", "a", "match"))).toBe(true);
    expect(p("read_roles", "*", "match").covers(p("read_roles", "a", "all"))).toBe(false);
    expect(p("read_nodes", "verbose", "*").covers(p("read_nodes", "minimal", "*"))).toBe(true);
    expect(p("read_nodes", "minimal", "*").covers(p("read_nodes", "verbose", "*"))).toBe(false);
    expect(p("read_nodes", "minimal", "*").allows(["nothing", "A"])).toBe(false);
  });
});

describe("rights", () => {
  it("are what any of the roles allows", () => {
    const rights = rightsOf(
      { action: "read_data", data: { collection: "Car" } },
      { action: "read_data", data: { collection: "Van*" } },
      { action: "update_data", data: { collection: "Car", tenant: "T1" } },
    );
    expect(rights.allows("read_data", ["Car", "*", "*"])).toBe(true);
    expect(rights.allows("read_data", ["Vans", "*", "*"])).toBe(true);
    expect(rights.allows("read_data", ["Cars", "*", "*"])).toBe(false);
    // What is allowed for one tenant is not allowed for a class without tenants.
    expect(rights.allows("update_data", ["Car", "*", "*"])).toBe(false);
    expect(rights.allowsAny("update_data")).toBe(true);
    expect(rights.allowsAny("delete_data")).toBe(false);
    expect(new Rights([]).allowsAny("read_data")).toBe(false);
  });

  it("cover what a single one of them does", () => {
    const own = rightsOf({ action: "read_data", data: { collection: "A*" } }, { action: "read_cluster" });
    const asked = parsePermissions(
      [
        { action: "read_data", data: { collection: "Ab" } },
        { action: "delete_data", data: { collection: "Ab" } },
      ],
      "permissions",
    );
    expect(asked.map((one) => own.covers(one))).toEqual([true, false]);
    expect(own.of("read_data").map(({ values }) => values[0])).toEqual(["A*"]);
    expect(own.of("delete_data")).toEqual([]);
  });

  it("compare a name only with patterns that begin as it does", () => {
    const collections = Array.from({ length: 200 }, (_, at) => `T${at}_*`);
    const own = rightsOf(...collections.map((collection) => ({ action: "read_data", data: { collection } })));
    const index = own.index("read_data");
    for (const name of ["T77_Docs", "T199_", "T200_Docs", "U1_Docs", "T", ""]) {
      const isOwn = collections.some((collection) => name.startsWith(collection.slice(0, -1)));
      expect(index.candidates([name, "*", "*"]).flat(), name).toHaveLength(isOwn ? 1 : 0);
      expect(own.allows("read_data", [name, "*", "*"]), name).toBe(isOwn);
    }
  });

  it("of the built-in roles are everything and all reading", () => {
    const [admin, viewer] = ["admin", "viewer"].map((name) => new Rights([BUILT_IN_ROLES.get(name) ?? never()]));
    for (const { permissions } of BUILT_IN_ROLES.values())
      expect(permissions.every((one) => admin?.covers(one))).toBe(true);
    for (const action of Object.keys(ACTIONS).filter(isAction)) {
      expect(admin?.allowsAny(action)).toBe(true);
      expect(viewer?.allowsAny(action)).toBe(action.startsWith("read_"));
    }
    expect(viewer?.allows("read_nodes", ["verbose", "Any"])).toBe(true);
  });
});

describe("a role", () => {
  it("has a name that fits into a path", () => {
    for (const name of ["a", "_a", "A-b.c_9", "a".repeat(128)]) expect(() => checkRoleName(name)).not.toThrow();
    for (const name of ["", "9", "-a", "a/b", "a b", "ä", "a".repeat(129), "a\n"]) {
      expect(() => checkRoleName(name), name).toThrow("a role's name is");
    }
  });

  it("has each permission once, and not too many", () => {
    const one = { action: "read_data", data: { collection: "A" } };
    expect(parsePermissions([one, { ...one }, { ...one, data: { collection: "a" } }], "p")).toHaveLength(1);
    expect(() => parsePermissions(Array(201).fill(one), "p")).toThrow("at most 200 permissions");
    expect(() => parsePermissions({}, "p")).toThrow("p must be a list");
    const starred = (stars: number) => [{ action: "read_data", data: { collection: "A*".repeat(stars) } }];
    expect(parsePermissions(starred(16), "p")).toHaveLength(1);
    expect(() => parsePermissions(starred(17), "p")).toThrow("has 17 times '*', at most 16 are allowed");
    expect(shownRole({ name: "r", permissions: parsePermissions([one], "p") })).toEqual({
      name: "r",
      permissions: [{ action: "read_data", data: { collection: "A", tenant: "*", object: "*" } }],
    });
  });
});

function never(): never {
  throw new Error("there is no such role");
}
