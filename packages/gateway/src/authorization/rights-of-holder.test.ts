import { type Json, parsePermissions, type RightsHolder, ShoalError } from "@shoal/model";
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

interface World {
  /** Entries of the store that are other than {@link ENTRIES}; `undefined` ones are gone. */
  readonly change?: Readonly<Record<string, Json | undefined>>;
  /** The same of what this process knows; as the store has them when absent. */
  readonly known?: Readonly<Record<string, Json | undefined>>;
  readonly users?: boolean;
  /** No coordinator answers. */
  readonly isCutOff?: boolean;
}

function snapshotOf(version: number, change: Readonly<Record<string, Json | undefined>>): AccessSnapshot {
  const entries = Object.entries({ ...ENTRIES, ...change }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return { historyId: "h", version, entries: new Map(entries) };
}

function bookOf({ change = {}, known = change, users = true, isCutOff = false }: World): AccessBook {
  const service: Partial<AccessService> = {
    current: async () => {
      if (isCutOff) throw new ShoalError("unavailable", "no coordinator answers");
      return snapshotOf(2, change);
    },
    watch: (listener) => {
      listener(snapshotOf(1, known));
      return { [Symbol.dispose]: () => {} };
    },
  };
  const held = { digest: Buffer.alloc(32), username: "fixed" };
  const unused = () => {
    throw new Error("no test needs this");
  };
  return new AccessBook({
    service: service as AccessService,
    roles: { rootUsers: ["root"], rootGroups: [], readOnlyGroups: [], staleSecondsMax: 0 },
    databaseUsers: users,
    otherKeys: [ApiKeyTable.of([held])],
    ...{ nowMs: () => 1, newId: unused, newKey: unused, digestOf: unused },
  });
}

/** What somebody who had rights before may do on a gateway that let him in. */
function mayUpdate(holder: RightsHolder, change: World["change"] = {}, users = true) {
  using book = bookOf({ change, users });
  return book.rightsOf(holder).may("update_data", "Car");
}

/** The same of somebody whom another gateway let in, or why it cannot be told. */
async function mayUpdateStill(holder: RightsHolder, world: World = {}): Promise<boolean | string> {
  using book = bookOf(world);
  const rights = book.latestRightsOf(holder, { deadline: Number.POSITIVE_INFINITY });
  return rights.then((known) => known.may("update_data", "Car")).catch((thrown) => ShoalError.from(thrown).code);
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

it("S-roles: work that goes on is decided by what the store has now, not by what this gateway knows", async () => {
  const gone = { [assignedEntry("user/db/ann")]: undefined };
  // A gateway that is behind: the right was given after what it knows, or taken away.
  expect(await mayUpdateStill(ANN, { known: gone })).toBe(true);
  expect(await mayUpdateStill(ANN, { known: { [userEntry("ann")]: undefined } })).toBe(true);
  expect(await mayUpdateStill(ANN, { change: gone, known: {} })).toBe(false);
  expect(await mayUpdateStill(ANN, { change: { [userEntry("ann")]: undefined }, known: {} })).toBe(false);
  expect(await mayUpdateStill(ANN, { change: { [userEntry("ann")]: user(6) }, known: {} })).toBe(false);
  for (const known of [{}, gone]) expect(await mayUpdateStill(ANN, { known, isCutOff: true })).toBe("unavailable");
});

it("S-roles: a gateway whose settings do not know a user cannot tell whether he may go on", async () => {
  expect(await mayUpdateStill(FIXED, { change: { [assignedEntry("user/db/fixed")]: ["drives/r1"] } })).toBe(true);
  expect(await mayUpdateStill(FIXED, { change: { [assignedEntry("user/db/fixed")]: undefined } })).toBe(false);
  expect(await mayUpdateStill({ ...FIXED, username: "gone" })).toBe("unavailable");
  expect(await mayUpdateStill(ANN, { users: false })).toBe("unavailable");
  expect(await mayUpdateStill({ username: "ann", groups: [], userType: "oidc" })).toBe(true);
});
