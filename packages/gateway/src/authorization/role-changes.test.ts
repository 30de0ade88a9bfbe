import { type Json, parsePermissions } from "@shoal/model";
import type { AccessService, AccessSnapshot } from "@shoal/rpc";
import { expect, it } from "vitest";
import type { Principal } from "../auth/access.js";
import { ChangeLine } from "./access-changes.js";
import {
  assignedEntry,
  roleEntry,
  type SubjectKind,
  storedRole,
  storedUser,
  subjectKey,
  userEntry,
} from "./access-state.js";
import { Assignments, SUBJECTS_MAX } from "./assignments.js";
import { Authority } from "./authority.js";
import { PERMISSIONS_MAX, ROLES_MAX, RoleChanges } from "./role-changes.js";
import { USERS_MAX, UserChanges } from "./user-changes.js";

const user = (username: string): Principal => ({ username, userType: "db", groups: [] });
const context = { deadline: Number.POSITIVE_INFINITY };

/** Of user `mo`, who may manage roles of his own scope and some users and groups; `all` may manage all users and groups. */
function setUp() {
  const permissions = parsePermissions(
    [
      { action: "create_roles", roles: { role: "*" } },
      { action: "update_roles", roles: { role: "*" } },
      { action: "read_data", data: { collection: "*" } },
      { action: "create_users", users: { users: "m*" } },
      { action: "assign_and_revoke_users", users: { users: "m*" } },
      { action: "assign_and_revoke_groups", groups: { group: "m*" } },
    ],
    "p",
  );
  const everybody = parsePermissions(
    [
      { action: "create_users", users: { users: "*" } },
      { action: "assign_and_revoke_users", users: { users: "**" } },
      { action: "assign_and_revoke_groups", groups: { group: "*" } },
    ],
    "p",
  );
  const reader = parsePermissions([], "p");
  let snapshot: AccessSnapshot = {
    historyId: "h",
    version: 1,
    entries: new Map([
      [roleEntry("manager"), storedRole({ id: "1", permissions })],
      [assignedEntry(subjectKey("user/db", "mo")), ["manager/1"]],
      [roleEntry("all"), storedRole({ id: "2", permissions: everybody })],
      [roleEntry("reader"), storedRole({ id: "3", permissions: reader })],
      [assignedEntry(subjectKey("user/db", "all")), ["all/2"]],
    ]),
  };
  /** So many entries more, at once. */
  const put = (count: number, entryOf: (at: number) => readonly [string, Json]) => {
    const added = Array.from({ length: count }, (_, at) => entryOf(at));
    snapshot = { ...snapshot, version: snapshot.version + 1, entries: new Map([...snapshot.entries, ...added]) };
  };
  const service: Pick<AccessService, "current" | "change"> = {
    current: async () => snapshot,
    async change(changes) {
      const entries = new Map(snapshot.entries);
      for (const { key, value } of changes) {
        if (value === undefined) entries.delete(key);
        else entries.set(key, value);
      }
      snapshot = { ...snapshot, version: snapshot.version + 1, entries };
    },
  };
  const authority = new Authority({ rootUsers: ["root"], rootGroups: [], readOnlyGroups: [] } as never);
  let ids = 3;
  const common = {
    service: service as AccessService,
    authority,
    nowMs: () => 0,
    isStaticUser: () => false,
    line: new ChangeLine(() => 0),
    newId: () => `${++ids}`,
    newKey: () => "k",
    digestOf: () => "d",
  };
  const roles = new RoleChanges(common);
  const users = new UserChanges(common);
  const assignments = new Assignments(common);
  /** What stops one who makes roles until he may not. */
  const fill = async (name: string, count: number): Promise<[number, unknown]> => {
    const readers = Array.from({ length: count }, (_, at) => ({ action: "read_data", data: { collection: `C${at}` } }));
    for (let made = 0; ; made++) {
      const role = { name: `${name}${made}`, permissions: parsePermissions(readers, "p") };
      const failure = await roles.create(role, user(name), context).then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (failure !== undefined) return [made, failure];
    }
  };
  return { roles, users, assignments, put, fill };
}

it("keeps a tenth of the roles from who may only manage roles of his own scope", async () => {
  const { fill } = setUp();
  const most = ROLES_MAX * 0.9;
  expect(await fill("mo", 0)).toEqual([most - 3, `there are ${most} roles, at most ${most} are allowed`]);
  expect(await fill("root", 0)).toEqual([50, `there are ${ROLES_MAX} roles, at most ${ROLES_MAX} are allowed`]);
});

it("keeps a tenth of all permissions from him, too", async () => {
  const { roles, fill } = setUp();
  const most = PERMISSIONS_MAX * 0.9;
  const [made, refusal] = await fill("mo", 100);
  expect([made, refusal]).toEqual([44, expect.stringContaining(`at most ${most} are allowed`)]);
  const readers = Array.from({ length: 100 }, (_, at) => ({ action: "read_data", data: { collection: `D${at}` } }));
  const added = parsePermissions(readers, "p");
  await expect(roles.addPermissions("mo0", added, user("mo"), context)).rejects.toThrow(`at most ${most} are allowed`);
  await roles.addPermissions("mo0", added, user("root"), context);
  expect((await fill("root", 100))[0]).toBe(4);
});

it("keeps a tenth of the users from who may make some of them only", async () => {
  const { users, put } = setUp();
  const most = USERS_MAX * 0.9;
  const stored = storedUser({ name: "", digest: "d", keyStart: "k", isActive: true, createdMs: 0 });
  put(most - 1, (at) => [userEntry(`m${at}`), stored]);
  await users.create("mx", user("mo"), context);
  await expect(users.create("my", user("mo"), context)).rejects.toThrow(`at most ${most} are allowed`);
  await users.create("y", user("all"), context);
  put(USERS_MAX - most - 2, (at) => [userEntry(`n${at}`), stored]);
  await users.create("z", user("root"), context);
  await expect(users.create("zz", user("root"), context)).rejects.toThrow(`at most ${USERS_MAX} are allowed`);
});

it("keeps a tenth of the users and groups with roles from who may assign to some of them only", async () => {
  const { assignments, put } = setUp();
  const most = SUBJECTS_MAX * 0.9;
  put(most - 3, (at) => [assignedEntry(subjectKey("user/oidc", `m${at}`)), ["reader/3"]]);
  const assign = (kind: SubjectKind, name: string, actor: string) =>
    assignments.assign({ kind, name }, ["reader"], user(actor), context);
  await assign("user/oidc", "mx", "mo");
  for (const kind of ["user/oidc", "group/oidc"] as const) {
    await expect(assign(kind, "my", "mo")).rejects.toThrow(`at most ${most} are allowed`);
    await assign(kind, "my", "all");
    // Who has a role already takes no room.
    await assign(kind, "my", "mo");
  }
  put(SUBJECTS_MAX - most - 2, (at) => [assignedEntry(subjectKey("user/oidc", `n${at}`)), ["reader/3"]]);
  await expect(assign("user/oidc", "z", "root")).rejects.toThrow(`at most ${SUBJECTS_MAX} are allowed`);
});

it("says which permissions a role did not have as they were given, and which it allows all the same", async () => {
  const { roles } = setUp();
  const root = user("root");
  const read = (...collections: string[]) =>
    parsePermissions(
      collections.map((collection) => ({ action: "read_data", data: { collection } })),
      "p",
    );
  await roles.create({ name: "r", permissions: read("*", "Mine", "M*") }, root, context);
  const remove = (...collections: string[]) => roles.removePermissions("r", read(...collections), root, context);
  expect(await remove("Other", "Mine")).toEqual([
    { at: 0, isCovered: true },
    { at: 1, isCovered: true },
  ]);
  expect(await remove("*", "Mine", "Other")).toEqual([
    { at: 1, isCovered: true },
    { at: 2, isCovered: false },
  ]);
  expect(await remove("M*")).toEqual([]);
  expect(await remove("M*")).toEqual([{ at: 0, isCovered: false }]);
});
