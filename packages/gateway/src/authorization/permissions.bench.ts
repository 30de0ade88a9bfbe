import { parsePermissions } from "@shoal/model";
import { bench, describe } from "vitest";
import { stateOf } from "./access-state.js";
import { Authority } from "./authority.js";

const permissions = parsePermissions(
  Array.from({ length: 200 }, (_, n) => ({ action: "read_data", data: { collection: `Tenant${n}_*` } })),
  "p",
).map((permission) => permission.toJson());
const state = stateOf({
  historyId: "h",
  version: 1,
  entries: new Map<string, never>([
    ["role/r", { id: "1", permissions } as never],
    ["assigned/user/db/ann", ["r/1"] as never],
  ]),
});
const authority = new Authority({ rootUsers: [], rootGroups: ["ops"], readOnlyGroups: [], staleSecondsMax: 0 });
const ann = { username: "ann", groups: [], userType: "db" } as const;
let next = 0;

describe("a decision about a user with 200 permissions", () => {
  bench("whose class was asked for before", () => {
    if (!authority.permissionsOf(ann, state).mayRead("Tenant77_Docs")) throw new Error("it is allowed");
  });
  bench("whose class is new", () => {
    authority.permissionsOf(ann, state).mayRead(`Tenant77_D${next++}`);
  });
});
