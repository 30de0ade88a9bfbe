import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ShoalError } from "@shoal/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AccessControl, Principal } from "../auth/access.js";
import { serveFakes } from "../testing/serve-fakes.js";
import { AuditCounts, COUNTED_KINDS_MAX, COUNTED_OWNERS_MAX } from "./audit-counts.js";
import { auditLine, boundedName, boundedNames } from "./audit-line.js";
import { AuditLog } from "./audit-log.js";

type Line = Readonly<Record<string, unknown>>;

const ADA: Principal = { username: "ada", groups: ["g1"], userType: "db" };

class Lines {
  readonly all: Line[] = [];
  write(line: string): void {
    expect(line.endsWith("\n") && line.indexOf("\n") === line.length - 1).toBe(true);
    this.all.push(JSON.parse(line) as Line);
  }
  /** Without what differs each time. */
  get plain(): readonly Line[] {
    return this.all.map(({ time, server, requestId, since, ...rest }) => rest);
  }
}

describe("a line", () => {
  it.each(["a\nb", 'a"b', "\u2028", "\u202e", "\u0000", "\u009b31m", "</script>", "{}"])(
    "is one line of JSON: %j",
    (text) => {
      const line = auditLine(0, "s", { action: "a", outcome: "failed", text });
      expect(line.slice(0, -1)).toMatch(/^[\u0020-\u007e]*$/);
      expect(JSON.parse(line)).toEqual({
        time: "1970-01-01T00:00:00.000Z",
        server: "s",
        action: "a",
        outcome: "failed",
        text,
      });
    },
  );
});

describe("a name", () => {
  it("is cut, and keeps nothing of the text that it was a part of", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const names: string[] = [];
    const heapBytes = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = heapBytes();
    for (let i = 0; i < 50; i++) {
      const text = Buffer.alloc(1_000_000, `${i}abcdefghijklmnopqrstuvwxyz`).toString("latin1");
      names.push(boundedName(text.slice(10, 110)), boundedName(text), ...boundedNames([text.slice(10, 110), text]));
    }
    expect(heapBytes() - before).toBeLessThan(5_000_000);
    expect(names.slice(0, 4).map(({ length }) => length)).toEqual([100, 257, 100, 1_025]);
    expect(boundedName("\ud83d\ude00é")).toBe("\ud83d\ude00é");
  });

  it("of a long list is counted", () => {
    const names = Array.from({ length: 203 }, (_, i) => `n${i}`);
    expect(boundedNames(names)).toEqual([...names.slice(0, 200), "and 3 more"]);
    expect(boundedNames(names.slice(0, 200))).toEqual(names.slice(0, 200));
  });
});

describe("an audit log", () => {
  const clock = { nowMs: 1_000, now: () => clock.nowMs };
  let lines: Lines;
  let log: AuditLog;
  const origin = { principal: ADA, address: "10.0.0.1" };
  const refusal = () => ({ action: "create_class", status: 403 });

  beforeEach(() => {
    lines = new Lines();
    log = new AuditLog({ sink: lines, clock, server: "n1:7", hasClass: (name) => name === "Thing", windowMs: 20 });
  });

  it("counts writes by who, what and class, and writes them when the window is over", async () => {
    for (let i = 0; i < 500; i++) log.wrote(origin, "create_object", "Thing", { accepted: 1, refused: 0 });
    log.wrote(origin, "import_objects", "Thing", { accepted: 99, refused: 1 });
    log.wrote({ ...origin, principal: undefined }, "create_object", "Thing", { accepted: 1, refused: 0 });
    expect(lines.all.length).toBe(1);
    await expect.poll(() => lines.all.length).toBe(4);
    const who = { user: "ada", userType: "db", groups: ["g1"], address: "10.0.0.1" };
    expect(lines.plain.slice(1)).toEqual([
      { action: "create_object", outcome: "allowed", ...who, class: "Thing", requests: 500, accepted: 500, refused: 0 },
      { action: "import_objects", outcome: "allowed", ...who, class: "Thing", requests: 1, accepted: 99, refused: 1 },
      {
        action: "create_object",
        outcome: "allowed",
        address: "10.0.0.1",
        class: "Thing",
        requests: 1,
        accepted: 1,
        refused: 0,
      },
    ]);
  });

  it("has the lines of an address in the order of its effects", () => {
    log.wrote(origin, "create_object", "Thing", { accepted: 1, refused: 0 });
    log.refused({ principal: ADA, address: "10.0.0.2" }, "k", "denied", refusal);
    log.event(origin, { action: "delete_class", outcome: "allowed", class: "Thing" });
    log.wrote(origin, "create_object", "Thing", { accepted: 1, refused: 0 });
    log[Symbol.dispose]();
    expect(lines.all.map(({ action }) => action)).toEqual([
      "start_audit",
      "create_object",
      "delete_class",
      "create_class",
      "create_object",
      "stop_audit",
    ]);
  });

  it("names who did what, however many kinds of refusals strangers and others make up meanwhile", () => {
    const stranger = (i: number) => ({ principal: undefined, address: `10.1.${i >> 8}.${i & 255}` });
    const eve: Principal = { username: "eve", groups: [], userType: "db" };
    for (let i = 0; i < 3_000; i++) log.refused(stranger(i), `k${i}`, "denied", refusal);
    for (let i = 0; i < 3_000; i++) log.refused({ principal: eve, address: "10.0.0.9" }, `k${i}`, "denied", refusal);
    for (let i = 0; i < 100; i++) {
      log.refused(origin, `k${i}`, "denied", () => ({ action: "get", resource: `r${i}` }));
    }
    log.wrote(origin, "create_object", "Thing", { accepted: 1, refused: 0 });
    log.refused({ ...stranger(0), isInternal: true }, "k", "denied", () => ({ action: "internal" }));
    log[Symbol.dispose]();
    const by = (user: string | undefined) => lines.plain.filter((line) => line.user === user);
    expect(by("ada").map(({ resource }) => resource)).toEqual([
      ...Array.from({ length: 100 }, (_, i) => `r${i}`),
      undefined,
    ]);
    expect(by("eve").at(-1)).toEqual({
      action: "others",
      outcome: "denied",
      user: "eve",
      userType: "db",
      requests: 2_488,
    });
    expect(by(undefined).filter(({ action }) => action === "others")).toEqual([
      { action: "others", outcome: "denied", requests: 3_000 - COUNTED_KINDS_MAX },
    ]);
    expect(lines.plain.filter(({ action }) => action === "internal").length).toBe(1);
  });

  it("names each of more users than it counts, and writes sooner what it has", () => {
    for (let i = 0; i < 2 * COUNTED_OWNERS_MAX; i++) {
      const principal: Principal = { username: `user ${i}`, groups: [], userType: "oidc" };
      log.refused({ principal, address: "10.0.0.1" }, "k", "denied", refusal);
    }
    expect(lines.all.length).toBe(1 + COUNTED_OWNERS_MAX);
    log[Symbol.dispose]();
    const users = lines.plain.flatMap(({ user }) => (user === undefined ? [] : [user]));
    expect(users).toEqual(Array.from({ length: 2 * COUNTED_OWNERS_MAX }, (_, i) => `user ${i}`));
  });

  it("keeps no more than a part of long names, and tells users apart by all of it", () => {
    const kinds: string[] = [];
    const shared = new Set<unknown>();
    class Kept extends AuditCounts {
      override of(...[event, nowMs]: Parameters<AuditCounts["of"]>) {
        kinds.push(event.owner, event.kind);
        shared.add(event.describe().groups);
        return super.of(event, nowMs);
      }
    }
    const bounded = new AuditLog({ sink: lines, clock, server: "n", hasClass: () => true }, new Kept());
    for (const end of ["a", "b"]) {
      const principal: Principal = {
        username: "\u00e9".repeat(16_000) + end,
        groups: ["\u00e9".repeat(16_000)],
        userType: "oidc",
      };
      for (let i = 0; i < 3; i++) bounded.refused({ principal, address: "10.0.0.1" }, "k", "denied", refusal);
    }
    bounded[Symbol.dispose]();
    expect(Math.max(...kinds.map(({ length }) => length))).toBeLessThan(800);
    expect(shared.size).toBe(2);
    const users = lines.all.flatMap(({ user, requests }) => (user === undefined ? [] : [[user, requests]]));
    expect(users).toEqual([
      [expect.stringMatching(/^\u00e9{256}… \(sha256 [0-9a-f]{64}\)$/), 3],
      [expect.stringMatching(/^\u00e9{256}… \(sha256 [0-9a-f]{64}\)$/), 3],
    ]);
    expect(users[0]?.[0]).not.toBe(users[1]?.[0]);
  });

  it("says of each event the groups that it came with; of what is counted together, none", () => {
    const log = new AuditLog(
      { sink: lines, clock, server: "n", hasClass: () => true },
      new AuditCounts(3, COUNTED_OWNERS_MAX),
    );
    const rita = (groups: readonly string[], address: string) =>
      ({ principal: { username: "rita", groups, userType: "oidc" }, address }) as const;
    const refuse = (groups: readonly string[], address: string, action: string) =>
      log.refused(rita(groups, address), action, "denied", () => ({ action }));
    refuse(["staff"], "10.0.0.1", "get");
    refuse(["admins"], "10.0.0.2", "delete_class");
    refuse(["admins"], "10.0.0.1", "get");
    refuse(["staff"], "10.0.0.1", "get");
    refuse([], "10.0.0.1", "beyond her part");
    log[Symbol.dispose]();
    const reported = lines.plain.filter(({ user }) => user === "rita");
    expect(reported.map(({ action, groups, requests }) => [action, groups, requests])).toEqual([
      ["get", ["staff"], 2],
      ["delete_class", ["admins"], 1],
      ["get", ["admins"], 1],
      ["others", undefined, 1],
    ]);
  });

  it("says since when it has counted", () => {
    log.refused(origin, "k", "denied", refusal);
    clock.nowMs = 5_000;
    log.refused(origin, "k", "denied", refusal);
    log[Symbol.dispose]();
    expect(lines.all[1]).toMatchObject({
      time: "1970-01-01T00:00:05.000Z",
      since: "1970-01-01T00:00:01.000Z",
      requests: 2,
    });
  });
});

describe("a gateway with an audit log", () => {
  const lines = new Lines();
  const open: AsyncDisposable[] = [];
  const access: AccessControl = {
    identify: ({ authorization }) => (authorization === "Bearer good" ? ADA : undefined),
    authorize: () => {},
    methods: ["API-keys"],
  };
  afterEach(async () => {
    for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
  });

  it("tells every kind of event once, and of reads nothing", async () => {
    const fake = await serveFakes({}, undefined, undefined, undefined, access, undefined, { sink: lines, server: "n" });
    open.push(fake.gateway);
    const auth = { Authorization: "Bearer good" };
    await fake.send("POST", "/v1/schema", { class: "Thing" }, auth);
    await fake.send("POST", "/v1/schema/Thing/properties", { name: "secretive", dataType: ["text"] }, auth);
    await fake.send("POST", "/v1/objects", { class: "Thing", properties: { secretive: "hidden value" } }, auth);
    await fake.send("GET", "/v1/schema", undefined, auth);
    await fake.send("POST", "/v1/graphql", { query: "{ __typename }" }, auth);
    await fake.send("GET", "/v1/objects?access_token=wrong-token");
    await fake.send("DELETE", "/v1/schema/Thing", undefined, auth);
    await fake.gateway.stop();
    const text = JSON.stringify(lines.all);
    expect(lines.plain.map(({ action, outcome, status, class: name }) => [action, outcome, status, name])).toEqual([
      ["start_audit", "allowed", undefined, undefined],
      ["create_class", "allowed", 200, "Thing"],
      ["add_property", "allowed", 200, "Thing"],
      ["create_object", "allowed", undefined, "Thing"],
      ["list", "denied", 401, undefined],
      ["delete_class", "allowed", 200, "Thing"],
      ["stop_audit", "allowed", undefined, undefined],
    ]);
    for (const secret of ["hidden value", "wrong-token", "good"]) expect(text).not.toContain(secret);
  });

  it("names what a user was refused, whether it is there or not, and of strangers only what is there", async () => {
    const quiet = new Lines();
    const closed: AccessControl = {
      ...access,
      authorize() {
        throw new ShoalError("forbidden", "forbidden: nobody may do anything");
      },
    };
    const fake = await serveFakes({}, undefined, undefined, undefined, closed, undefined, { sink: quiet, server: "n" });
    open.push(fake.gateway);
    const good = { Authorization: "Bearer good" };
    for (const name of ["Foo", "Bar", "foo"]) {
      await fake.send("DELETE", `/v1/schema/${name}`, undefined, good);
      await fake.send("DELETE", `/v1/schema/${name}`);
    }
    await fake.gateway.stop();
    expect(quiet.plain.map(({ user, status, class: name, requests }) => [user, status, name, requests])).toEqual([
      [undefined, undefined, undefined, undefined],
      ["ada", 403, "Foo", 2],
      [undefined, 401, "Foo", 3],
      ["ada", 403, "Bar", 1],
      [undefined, undefined, undefined, undefined],
    ]);
  });
});
