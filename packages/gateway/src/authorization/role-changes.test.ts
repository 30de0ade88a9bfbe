import { parsePermissions } from "@shoal/model";
import type { AccessService, AccessSnapshot } from "@shoal/rpc";
import { expect, it } from "vitest";
import type { Principal } from "../auth/access.js";
import { assignedEntry, roleEntry, storedRole, subjectKey } from "./access-state.js";
import { Authority } from "./authority.js";
import { PERMISSIONS_MAX, ROLES_MAX, RoleChanges } from "./role-changes.js";

const user = (username: string): Principal => ({ username, userType: "db", groups: [] });
const context = { deadline: Number.POSITIVE_INFINITY };

/** Of user `mo`, who may manage roles of his own scope; made by `root`. */
function setUp() {
  const permissions = parsePermissions(
    [
      { action: "create_roles", roles: { role: "*" } },
      { action: "update_roles", roles: { role: "*" } },
      { action: "read_data", data: { collection: "*" } },
    ],
    "p",
  );
  let snapshot: AccessSnapshot = {
    historyId: "h",
    version: 1,
    entries: new Map([
      [roleEntry("manager"), storedRole({ id: "1", permissions })],
      [assignedEntry(subjectKey("user/db", "mo")), ["manager/1"]],
    ]),
  };
  const service = {
    current: async () => snapshot,
    async change(changes) {
      const entries = new Map(snapshot.entries);
      for (const { key, value } of changes) {
        if (value === undefined) entries.delete(key);
        else entries.set(key, value);
      }
      snapshot = { ...snapshot, version: snapshot.version + 1, entries };
    },
  } as AccessService;
  const authority = new Authority({ rootUsers: ["root"], rootGroups: [], readOnlyGroups: [] } as never);
  let ids = 1;
  const roles = new RoleChanges({ service, authority, nowMs: () => 0, newId: () => `${++ids}` });
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
  return { roles, fill };
}

it("keeps a tenth of the roles from who may only manage roles of his own scope", async () => {
  const { fill } = setUp();
  const most = ROLES_MAX * 0.9;
  expect(await fill("mo", 0)).toEqual([most - 1, `there are ${most} roles, at most ${most} are allowed`]);
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
