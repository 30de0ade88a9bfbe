import { type Role, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { expect, it } from "vitest";
import { CountedAccess } from "../testing/counted-access.js";
import { AccessBook } from "./access-book.js";

const root = { username: "root", userType: "db", groups: [] } as const;
const role = (name: string): Role => ({ name, permissions: [] });
const of = (owner: string): RequestContext => ({
  deadline: Number.POSITIVE_INFINITY,
  share: { owner, connection: 1 },
});

function gateway(service: CountedAccess): AccessBook {
  let ids = 0;
  return new AccessBook({
    service,
    roles: { rootUsers: ["root"], rootGroups: [], readOnlyGroups: [], staleSecondsMax: 0 },
    databaseUsers: true,
    otherKeys: [],
    nowMs: () => 0,
    newId: () => `${++ids}`,
    newKey: () => "k",
    digestOf: (key) => Buffer.from(key),
  });
}

it("S-roles: changes at once through one gateway cost one read and one change each", async () => {
  const service = new CountedAccess();
  using book = gateway(service);
  await Promise.all(Array.from({ length: 300 }, (_, at) => book.roles.create(role(`r${at}`), root, of("root"))));
  expect(service.changed).toHaveLength(300);
  expect(service.reads).toBe(300);
  expect(service.conflicts).toBe(0);
});

it("S-roles: through two gateways all of them are made", async () => {
  const service = new CountedAccess();
  using one = gateway(service);
  using other = gateway(service);
  const made = Array.from({ length: 300 }, (_, at) =>
    (at % 2 === 0 ? one : other).roles.create(role(`r${at}`), root, of("root")),
  );
  await Promise.all(made);
  expect(new Set(service.changed).size).toBe(300);
  expect(service.conflicts).toBeLessThanOrEqual(300);
});

it("S-roles: who changes many roles does not keep others from changing one", async () => {
  const service = new CountedAccess();
  using book = gateway(service);
  const many = Array.from({ length: 300 }, (_, at) => book.roles.create(role(`r${at}`), root, of("busy")));
  await book.roles.create(role("urgent"), root, of("root"));
  expect(service.changed.length).toBeLessThanOrEqual(3);
  await Promise.all(many);
});

it("S-roles: those that wait while no coordinator can be reached do not each find it out, later ones do", async () => {
  const service = new CountedAccess();
  service.failure = new ShoalError("unavailable", "the coordinator cannot be reached");
  using book = gateway(service);
  const waiting = Array.from({ length: 50 }, (_, at) => book.roles.create(role(`r${at}`), root, of("root")));
  const codes = (await Promise.allSettled(waiting)).map((one) => one.status === "rejected" && one.reason.code);
  expect(new Set(codes)).toEqual(new Set(["unavailable"]));
  expect(service.reads).toBe(1);
  service.failure = undefined;
  await book.roles.create(role("later"), root, of("root"));
  expect(service.changed).toEqual(["role/later"]);
});

it("S-roles: one that is given up while it waits is not made, and keeps nobody", async () => {
  const service = new CountedAccess();
  using book = gateway(service);
  const gone = new AbortController();
  const first = book.roles.create(role("first"), root, of("root"));
  const second = book.roles.create(role("second"), root, { ...of("root"), signal: gone.signal });
  const third = book.roles.create(role("third"), root, of("root"));
  gone.abort(new ShoalError("unavailable", "the client has gone"));
  await expect(second).rejects.toThrow("the client has gone");
  await Promise.all([first, third]);
  expect(service.changed).toEqual(["role/first", "role/third"]);
});
