import { type Json, parsePermissions, type RightsHolder } from "@shoal/model";
import type { AccessService, AccessSnapshot } from "@shoal/rpc";
import { expect, it } from "vitest";
import { ApiKeyTable } from "../auth/api-keys.js";
import { AccessBook } from "./access-book.js";
import { assignedEntry, roleEntry, storedRole, storedUser, userEntry } from "./access-state.js";

const permissions = parsePermissions([{ action: "update_data", data: { collection: "Car" } }], "permissions");
const user = (createdMs: number, isActive = true): Json =>
  storedUser({ name: "ann", digest: Buffer.alloc(32).toString("base64"), keyStart: "k", isActive, createdMs });
const ENTRIES: Readonly<Record<string, Json>> = {
  [roleEntry("drives")]: storedRole({ id: "r1", permissions }),
  [userEntry("ann")]: user(5),
  [assignedEntry("user/db/ann")]: ["drives/r1"],
  [assignedEntry("user/db/fixed")]: ["drives/r1"],
  [assignedEntry("user/oidc/ann")]: ["drives/r1"],
};

/** What somebody who had rights before may do when the store has these entries; `undefined` ones are gone. */
function mayUpdate(holder: RightsHolder, change: Readonly<Record<string, Json | undefined>> = {}, users = true) {
  const entries = Object.entries({ ...ENTRIES, ...change }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  const snapshot: AccessSnapshot = { historyId: "h", version: 1, entries: new Map(entries) };
  const service: Partial<AccessService> = {
    watchAccess: (listener) => {
      listener(snapshot);
      return { [Symbol.dispose]: () => {} };
    },
  };
  const held = { digest: Buffer.alloc(32), username: "fixed" };
  const unused = () => {
    throw new Error("no test needs this");
  };
  using book = new AccessBook({
    service: service as AccessService,
    roles: { rootUsers: ["root"], rootGroups: [], readOnlyGroups: [], staleSecondsMax: 0 },
    databaseUsers: users,
    otherKeys: [ApiKeyTable.of([held])],
    ...{ nowMs: () => 1, newId: unused, newKey: unused, digestOf: unused },
  });
  return book.rightsOf(holder).may("update_data", "Car");
}

const ANN: RightsHolder = { username: "ann", groups: [], userType: "db", sinceMs: 5 };
const FIXED: RightsHolder = { username: "fixed", groups: [], userType: "db" };

it("somebody has the rights that he has now, as long as he is the same one", () => {
  expect(mayUpdate(ANN)).toBe(true);
  expect(mayUpdate(ANN, { [assignedEntry("user/db/ann")]: undefined })).toBe(false);
  expect(mayUpdate(ANN, { [roleEntry("drives")]: undefined })).toBe(false);
  expect(mayUpdate(ANN, { [userEntry("ann")]: undefined })).toBe(false);
  expect(mayUpdate(ANN, { [userEntry("ann")]: user(5, false) })).toBe(false);
  // One of the same name who was made later, and users that nobody lets in any more.
  expect(mayUpdate(ANN, { [userEntry("ann")]: user(6) })).toBe(false);
  expect(mayUpdate(ANN, {}, false)).toBe(false);
  expect(mayUpdate({ ...ANN, sinceMs: undefined })).toBe(false);
});

it("users of the settings are there while they have a key, those of an issuer are known by their tokens", () => {
  expect(mayUpdate(FIXED)).toBe(true);
  expect(mayUpdate({ ...FIXED, username: "gone" }, { [assignedEntry("user/db/gone")]: ["drives/r1"] })).toBe(false);
  expect(mayUpdate({ ...FIXED, sinceMs: 5 })).toBe(false);
  expect(mayUpdate({ username: "ann", groups: [], userType: "oidc" })).toBe(true);
  expect(mayUpdate({ username: "anonymous", groups: ["anonymous"], userType: "anonymous" })).toBe(false);
});
