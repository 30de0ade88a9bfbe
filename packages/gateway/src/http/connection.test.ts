import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { ANONYMOUS } from "../auth/access.js";
import { Connection, clientAddress, shareKind } from "./connections.js";

it.each([
  ["10.1.2.3", "10.1.2.3"],
  ["::ffff:10.1.2.3", "10.1.2.3"],
  ["::1", "0:0:0:0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["2001:db8:1:2::", "2001:db8:1:2"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  [undefined, ""],
])("knows %s by %s", (address, known) => {
  expect(clientAddress(address)).toBe(known);
});

it("shares by user, whatever the address, and by address where nobody has a name", () => {
  const connections = ["10.0.0.1", "10.0.0.2"].map((address, i) => new Connection({} as Socket, address, i + 1));
  const alice = { username: "alice", groups: [], userType: "oidc" } as const;
  const owners = (who: Parameters<Connection["shareOf"]>[0]) => connections.map((one) => one.shareOf(who).owner);
  expect(owners(undefined)).toEqual(["address 10.0.0.1", "address 10.0.0.2"]);
  expect(owners(ANONYMOUS)).toEqual(owners(undefined));
  expect(new Set(owners(alice)).size).toBe(1);
  expect(owners({ ...alice, userType: "db" })).not.toEqual(owners(alice));
  // A user cannot take the name of an address, or of nobody.
  expect(owners({ ...alice, username: "address 10.0.0.1" })).not.toContain("address 10.0.0.1");
  const share = connections[0]?.shareOf(alice);
  expect(connections[0]?.shareOf(alice)).toBe(share);
  expect(share === undefined ? undefined : [share.connection, shareKind(share)]).toEqual([1, "user"]);
});
