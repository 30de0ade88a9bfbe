import { type ObjectId, type ObjectListing, ShoalError } from "@shoal/model";
import { nodeOf } from "@shoal/replication";
import { ShardMoved } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CopiesWorld, copiedClass, objectOf, WAIT_MS } from "./copies-world.fixture.js";
import { HeldRequests } from "./held-requests.js";
import { ROWS, watched } from "./retrying-node.fixture.js";

const forever: RequestContext = { deadline: Number.POSITIVE_INFINITY };
const LISTING: ObjectListing = { order: "id", after: undefined, limit: 10, fields: ROWS };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A class of three shards; questions to the first one, whose primary is on n1. */
function setUp(held?: HeldRequests) {
  const world = new CopiesWorld([copiedClass("Car")], held);
  const shard = world.shard(0);
  const node = world.map.node(shard);
  const id = world.idOf(shard);
  return {
    ...{ world, shard, id },
    get: (context = forever) => node.getObjects(shard, [id], ROWS, context),
    list: (context = forever) => node.listObjects(shard, LISTING, context),
    remove: (context = forever) => node.deleteObject(shard, id, context),
    put: (value: string, mode: "create" | "upsert" = "upsert", context = forever) =>
      node.putObjects(shard, [objectOf(id, value)], mode, context),
  };
}

const settled = () => vi.advanceTimersByTimeAsync(0);
const counts = (calls: Readonly<Record<string, readonly string[]>>) => Object.values(calls).map(({ length }) => length);

describe("a shard with copies", () => {
  it("is asked at its primary for what is linear, and at each copy in sync in turn for searches", async () => {
    const { world, get, list, put, remove } = setUp();
    await put("a");
    expect(await get()).toHaveLength(1);
    expect(await remove()).toBe(true);
    expect(world.takeCalls()).toEqual({ n1: ["putObjects 0", "getObjects 0", "deleteObject 0"], n2: [], n3: [] });
    for (let i = 0; i < 6; i++) await list();
    expect(counts(world.takeCalls())).toEqual([2, 2, 2]);
    for (let i = 0; i < 3; i++) await list({ ...forever, readsPrimary: true });
    expect(counts(world.takeCalls())).toEqual([3, 0, 0]);
    // Another shard has another primary.
    const other = world.shard(1);
    await world.map.node(other).getObjects(other, [], ROWS, forever);
    expect(counts(world.takeCalls())).toEqual([0, 1, 0]);
    world.promote(world.shard(0), "n2", "n3");
    world.view.tell();
    for (let i = 0; i < 4; i++) await list();
    await put("b");
    expect(world.takeCalls()).toMatchObject({ n1: ["listObjects 0", "listObjects 0"], n3: [] });
  });

  it("is searched at the copy with the fewest questions under way", async () => {
    const { world, list } = setUp();
    world.at("n1").isSilent = true;
    const first = [list(), list(), list()].map(watched);
    await settled();
    expect(counts(world.takeCalls())).toEqual([1, 1, 1]);
    for (let i = 0; i < 10; i++) await list();
    expect(counts(world.takeCalls())).toEqual([0, 5, 5]);
    expect(first.map(({ outcome }) => outcome)).toEqual(
      expect.arrayContaining(["waits", "answered []", "answered []"]),
    );
  });

  it("keeps a class of one copy as it is: its node, without a hop", () => {
    const world = new CopiesWorld([copiedClass("Car", 3, 1)]);
    expect(world.map.node(world.shard(0))).toBe(world.node("n1"));
    expect(world.map.node(world.shard(1))).toBe(world.node("n2"));
    expect(world.map.isLost(world.shard(0))).toBe(false);
    world.die("n1");
    expect([0, 1].map((at) => world.map.isLost(world.shard(at)))).toEqual([true, false]);
  });

  it("is lost while the node of its primary is", () => {
    const { world, shard } = setUp();
    world.die("n1");
    expect(world.map.isLost(shard)).toBe(true);
    world.promote(shard, "n2");
    world.view.tell();
    expect(world.map.isLost(shard)).toBe(false);
  });
});

describe("a copy that is not primary any more", () => {
  it("says who is, and that one is asked at once", async () => {
    const { world, shard, put } = setUp();
    world.promote(shard, "n3");
    await put("a", "create");
    expect(world.takeCalls()).toEqual({ n1: ["putObjects 0"], n2: [], n3: ["putObjects 0"] });
    expect([world.view.refreshes, world.view.learned.length, world.puts.get("a")]).toEqual([0, 1, 1]);
    await put("b");
    expect(world.takeCalls()).toEqual({ n1: [], n2: [], n3: ["putObjects 0"] });
  });

  it("does not say who is: the coordinator is asked", async () => {
    const { world, shard, get } = setUp();
    world.tellsConfiguration = false;
    world.promote(shard, "n3");
    await get();
    expect([world.view.refreshes, counts(world.takeCalls())]).toEqual([1, [1, 0, 1]]);
  });

  it("does not search: another copy is asked", async () => {
    const { world, list } = setUp();
    world.at("n2").refusesSearches = true;
    for (let i = 0; i < 6; i++) await list();
    expect(world.takeCalls().n2).not.toEqual([]);
    expect(world.view.refreshes).toBe(0);
  });

  it("has carried out some items of a request: the others are sent to the next one", async () => {
    const { world, shard } = setUp();
    const ids = [0, 1, 2, 3].map((number) => world.idOf(shard, number));
    const node = world.map.node(shard);
    const times = { creationTimeUnix: 1, lastUpdateTimeUnix: 1 };
    const moved = new ShardMoved("no", undefined);
    const asked: unknown[] = [];
    const script = (first: readonly unknown[], later: unknown) => async (_: unknown, args: readonly unknown[]) => {
      const items = args[1] as readonly { readonly id: ObjectId }[];
      asked.push(items.map((one) => ids.indexOf(one.id)));
      return items.length === first.length ? first : items.map(() => later);
    };
    const invalid = new ShoalError("invalid", "no");
    Object.assign(world.at("n1").connection, { carry: script([times, moved, invalid, moved], moved) });
    Object.assign(world.at("n2").connection, { carry: script([], times) });
    const objects = ids.map((id) => objectOf(id, "a"));
    const put = node.putObjects(shard, objects, "create", forever);
    await settled();
    expect(asked).toEqual([
      [0, 1, 2, 3],
      [1, 3],
    ]);
    world.promote(shard, "n2");
    world.view.tell();
    expect((await put).map((one) => (one instanceof ShoalError ? one.code : one))).toEqual([
      times,
      times,
      "invalid",
      times,
    ]);
    expect(asked.slice(2)).toEqual([[1, 3]]);
  });
});

describe("a primary that dies", () => {
  it("is waited for until another copy has its place, or it is back", async () => {
    const { world, shard, get, remove } = setUp();
    world.die("n1");
    const read = watched(get());
    const write = watched(remove());
    await vi.advanceTimersByTimeAsync(4_000);
    expect([read.outcome, write.outcome, world.held.count, counts(world.takeCalls())]).toEqual([
      "waits",
      "waits",
      2,
      [0, 0, 0],
    ]);
    world.promote(shard, "n2", "n1");
    world.view.tell();
    await vi.advanceTimersByTimeAsync(0);
    expect([read.outcome, write.outcome, world.held.count]).toEqual(["answered [null]", "answered false", 0]);
    world.die("n2");
    const again = watched(get());
    await vi.advanceTimersByTimeAsync(1_000);
    world.revive("n2");
    await vi.advanceTimersByTimeAsync(150);
    expect(again.outcome).toBe("answered [null]");
  });

  it("leaves a write open whose outcome nobody knows: sent again it could undo what others wrote since", async () => {
    const { world, put } = setUp();
    for (const fate of ["lostBefore", "lostAfter"] as const) {
      world.at("n1").connection.fateOfNext = () => fate;
      const created = watched(put(fate, "create"));
      await settled();
      expect(created.outcome).toMatch(
        /^unavailable 1: shard \w+ of class 'Car': node 'n1' was lost while it worked on the request, which may have been carried out/,
      );
      expect(world.puts.get(fate)).toBe(fate === "lostAfter" ? 1 : undefined);
    }
    for (const fate of ["lostBefore", "lostAfter"] as const) {
      world.at("n1").connection.fateOfNext = () => fate;
      const written = watched(put(`upsert ${fate}`));
      await settled();
      expect(written.outcome).toMatch(
        /^unavailable 1: shard \w+ of class 'Car': node 'n1' was lost .*may have been carried out/,
      );
      expect(world.puts.get(`upsert ${fate}`)).toBe(fate === "lostAfter" ? 1 : undefined);
    }
  });

  it("is searched in vain once: another copy answers at once", async () => {
    const { world, list } = setUp();
    world.die("n1");
    const seen = Array.from({ length: 9 }, () => watched(list()));
    await settled();
    expect(seen.map(({ outcome }) => outcome)).toEqual(Array(9).fill("answered []"));
    // One whose loss nobody has noticed yet.
    world.revive("n1");
    world.at("n2").connection.fateOfNext = () => "lostBefore";
    const more = Array.from({ length: 9 }, () => watched(list()));
    await settled();
    expect(more.map(({ outcome }) => outcome)).toEqual(Array(9).fill("answered []"));
  });

  it("is not waited for longer than SHARD_WAIT_SECONDS, the deadline, or somebody wants; later requests fail at once", async () => {
    const { world, get } = setUp();
    world.die("n1");
    const cancel = new AbortController();
    const waits = watched(get());
    const bounded = watched(get({ deadline: Date.now() + 2_000 }));
    const gone = watched(get({ ...forever, signal: cancel.signal }));
    const soon = watched(get({ ...forever, waitMsMax: 1_000 }));
    await settled();
    const later = watched(get({ ...forever, waitMsMax: 1_000 }));
    await settled();
    const place = "unavailable 1: shard \\w+ of class 'Car': ";
    expect(soon.outcome).toMatch(new RegExp(`^${place}node 'n1' is not reachable`));
    expect(later.outcome).toMatch(new RegExp(`^${place}its primary, on node 'n1', does not answer`));
    cancel.abort(new ShoalError("deadlineExceeded", "gone"));
    await vi.advanceTimersByTimeAsync(2_000);
    expect([bounded.outcome.slice(0, 11), gone.outcome]).toEqual(["unavailable", "deadlineExceeded undefined: gone"]);
    await vi.advanceTimersByTimeAsync(WAIT_MS - 2_001);
    expect(waits.outcome).toBe("waits");
    await vi.advanceTimersByTimeAsync(1);
    expect(waits.outcome).toMatch(/^unavailable 1: shard \w+ of class 'Car': node 'n1' is not reachable/);
    await vi.advanceTimersByTimeAsync(100);
    const late = watched(get());
    await settled();
    expect([late.outcome.slice(0, 11), world.held.count]).toEqual(["unavailable", 0]);
    // Long after that it may be another outage.
    await vi.advanceTimersByTimeAsync(10 * WAIT_MS);
    const other = watched(get());
    await vi.advanceTimersByTimeAsync(1_000);
    expect(other.outcome).toBe("waits");
  });

  it("is not waited for longer than SHARD_WAIT_SECONDS and one more refusal where each refusal takes long", async () => {
    const { world, shard, get } = setUp();
    const refusal = new ShardMoved("no lease", world.configuration(shard));
    const carry = () => new Promise((_, reject) => setTimeout(reject, 2_000, refusal));
    Object.assign(world.at("n1").connection, { carry });
    const waits = watched(get());
    await vi.advanceTimersByTimeAsync(WAIT_MS);
    expect(waits.outcome).toBe("waits");
    await vi.advanceTimersByTimeAsync(5_000);
    expect(waits.outcome).toBe("unavailable 1: no lease");
  });
});

describe("requests that wait for a shard", () => {
  it("ask one after the other, ten times a second, and go on together", async () => {
    const { world, shard, get } = setUp();
    // The copy that shall be primary has not begun.
    const { connection } = world.at("n1");
    let asked = 0;
    const { carry } = connection;
    const refusal = new ShardMoved("no lease", world.configuration(shard));
    Object.assign(connection, {
      carry: async () => {
        asked++;
        throw refusal;
      },
    });
    const first = Array.from({ length: 100 }, () => watched(get()));
    await settled();
    const atOnce = asked;
    expect(atOnce).toBe(100);
    const later = Array.from({ length: 400 }, () => watched(get()));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(asked - atOnce).toBeGreaterThanOrEqual(20);
    expect(asked - atOnce).toBeLessThanOrEqual(30);
    expect(world.held.count).toBe(500);
    // The coordinator is asked once for all.
    expect(world.view.refreshes).toBeLessThanOrEqual(31);
    Object.assign(connection, { carry });
    await vi.advanceTimersByTimeAsync(150);
    expect([...first, ...later].map(({ outcome }) => outcome)).toEqual(Array(500).fill("answered [null]"));
    expect(world.held.count).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("are bounded", async () => {
    const { world, get } = setUp(new HeldRequests({ heldRequestsMax: 2 }));
    world.die("n1");
    const [one, two, three] = [get(), get(), get()].map(watched);
    await settled();
    expect([one?.outcome, two?.outcome]).toEqual(["waits", "waits"]);
    expect(three?.outcome).toMatch(/^overloaded 1: node 'n1' is not there, and 2 requests/);
  });

  it("are answered by what a copy itself says, as it is", async () => {
    const { world, put, get } = setUp();
    const refusal = new ShoalError("unavailable", "shard s takes no writes: 1 of the 2 copies", {
      retryAfterSeconds: 1,
    });
    Object.assign(world.at("n1").connection, { carry: () => Promise.reject(refusal) });
    await expect(put("a")).rejects.toBe(refusal);
    await expect(get()).rejects.toBe(refusal);
  });

  it("are told of no moves", async () => {
    const { world, list, get, shard } = setUp();
    for (const name of ["n1", "n2", "n3"]) world.at(name).refusesSearches = true;
    const seen = [watched(list()), watched(list({ ...forever, waitMsMax: 0 }))];
    await vi.advanceTimersByTimeAsync(WAIT_MS);
    for (const { outcome } of seen) expect(outcome).toMatch(/^unavailable 1: /);
    world.promote(shard, "n2");
    world.die("n2");
    await expect(get({ ...forever, waitMsMax: 0 })).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("a copy whose node is silent", () => {
  it("is left alone for a second; then another one is asked as well, and the first answer counts", async () => {
    const { world, list } = setUp();
    for (const name of ["n1", "n2", "n3"]) world.at(name).isSilent = true;
    const seen = watched(list());
    await vi.advanceTimersByTimeAsync(999);
    const [silent = ""] = Object.entries(world.takeCalls()).flatMap(([name, { length }]) => (length > 0 ? [name] : []));
    for (const name of ["n1", "n2", "n3"]) world.at(name).isSilent = name === silent;
    expect(seen.outcome).toBe("waits");
    await vi.advanceTimersByTimeAsync(1);
    expect(seen.outcome).toBe("answered []");
    expect(counts(world.takeCalls()).sort()).toEqual([0, 0, 1]);
    // What it has not answered is given up.
    expect(world.at(silent).lose.size).toBe(0);
  });

  it("is not asked twice for work that takes long, while its node answers others", async () => {
    const { world, shard, list, get } = setUp();
    world.promote(shard, "n1", "n3");
    world.view.tell();
    const { connection } = world.at("n1");
    const { carry } = connection;
    let response: (rows: readonly never[]) => void = () => undefined;
    Object.assign(connection, {
      carry: (method: { name: string }, ...rest: [never, never]) =>
        method.name === "listObjects"
          ? new Promise((resolve) => {
              response = resolve;
            })
          : carry(method as never, ...rest),
    });
    const first = watched(list());
    const second = watched(list());
    for (let i = 0; i < 5; i++) {
      await vi.advanceTimersByTimeAsync(900);
      await get();
    }
    expect(world.takeCalls().n2).toHaveLength(1);
    response([]);
    await settled();
    expect([first.outcome, second.outcome]).toEqual(["answered []", "answered []"]);
  });
});

it("below the number of copies that must be in sync nothing is asked of those that are not", async () => {
  const { world, shard, list } = setUp();
  world.promote(shard, "n2", "n1");
  world.promote(shard, "n2", "n1");
  world.view.tell();
  expect(world.configuration(shard).inSync.map(nodeOf)).toEqual(["n2", "n3"]);
  for (let i = 0; i < 6; i++) await list();
  expect(counts(world.takeCalls())).toEqual([0, 3, 3]);
});
