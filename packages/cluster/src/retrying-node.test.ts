import { type ObjectMerge, ShoalError } from "@shoal/model";
import { type ShardService, undelivered } from "@shoal/rpc";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeConnection, type Fate } from "./fake-connection.fixture.js";
import { HeldRequests } from "./held-requests.js";
import { forever, id, object, ROWS, setUp, shard, WAIT_MS, watched } from "./retrying-node.fixture.js";

const NO_MERGE: ObjectMerge = { id, set: {}, clear: [], append: {}, remove: {}, vector: undefined };

const now = () => Date.now();

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("a node that drains", () => {
  it("has its requests held until it is back, and a class of 15 s at most", async () => {
    const { connection, service, held } = setUp(now, { deleteObject: async () => true });
    connection.become("draining");
    const early = watched(service.deleteObject(shard, id, forever));
    await vi.advanceTimersByTimeAsync(10_000);
    connection.become("unreachable");
    const late = watched(service.deleteObject(shard, id, forever));
    expect(held.count).toBe(2);
    await vi.advanceTimersByTimeAsync(4_999);
    expect([early.outcome, late.outcome, connection.sent]).toEqual(["waits", "waits", 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(early.outcome).toBe(
      "unavailable 15: shard s1 of class 'Car': node 'n1' is being restarted and is not back yet",
    );
    connection.become("ready");
    await vi.advanceTimersByTimeAsync(0);
    expect([late.outcome, held.count, connection.sent]).toEqual(["answered true", 0, 1]);
  });

  it("is waited for no longer than the deadline of the request, nor than somebody wants the answer", async () => {
    const { connection, service, held } = setUp(now);
    connection.become("draining");
    const cancel = new AbortController();
    const bounded = watched(service.shardStatuses({ deadline: Date.now() + 2_000 }));
    const cancelled = watched(service.shardStatuses({ deadline: Date.now() + 9_000, signal: cancel.signal }));
    await vi.advanceTimersByTimeAsync(2_000);
    cancel.abort(new ShoalError("deadlineExceeded", "gone"));
    await vi.advanceTimersByTimeAsync(0);
    expect(bounded.outcome).toBe("unavailable 15: node 'n1' is being restarted and is not back yet");
    expect([cancelled.outcome, held.count]).toEqual(["deadlineExceeded undefined: gone", 0]);
  });

  it("goes on at another address", async () => {
    const { node, connection, service } = setUp(now);
    connection.become("draining");
    const asked = watched(service.deleteObject(shard, id, forever));
    const next = new FakeConnection("n1", { deleteObject: async () => false });
    node.connect(next);
    expect(connection.isClosed).toBe(true);
    await vi.advanceTimersByTimeAsync(3_000);
    next.become("ready");
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.outcome).toBe("answered false");
  });

  it("counts among the dead when it has not come back for five minutes", async () => {
    const { connection, service } = setUp(now);
    connection.become("draining");
    await vi.advanceTimersByTimeAsync(300_000);
    connection.become("unreachable");
    await vi.advanceTimersByTimeAsync(1_000);
    const asked = watched(service.shardStatuses(forever));
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.outcome).toBe("unavailable 1: node 'n1' is not reachable");
  });
});

describe("F6: an answer that is of use only soon", () => {
  const soon = { deadline: Number.POSITIVE_INFINITY, waitMsMax: 1_000 };
  const served = { findObjects: async () => ({ holders: [], unasked: [] }) };
  const found = 'answered {"holders":[],"unasked":[]}';

  it.each(["unreachable", "draining"] as const)("is not waited for when the node is %s", async (state) => {
    const { connection, service, held } = setUp(now, served);
    expect(await service.findObjects([id], 1, soon)).toEqual({ holders: [], unasked: [] });
    connection.become(state);
    const asked = watched(service.findObjects([id], 1, soon));
    await vi.advanceTimersByTimeAsync(0);
    const reason = state === "draining" ? "is being restarted and is not back yet" : "is not reachable";
    expect(asked.outcome).toBe(`unavailable ${state === "draining" ? 15 : 1}: node 'n1' ${reason}`);
    expect([held.count, connection.sent]).toEqual([0, 1]);
  });

  it("is asked for once, with the time that is left", async () => {
    const deadlines: number[] = [];
    const { connection, service } = setUp(now, {
      findObjects: async (_ids, _version, { deadline }) => {
        deadlines.push(deadline - Date.now());
        return { holders: [], unasked: [] };
      },
    });
    await service.findObjects([id], 1, soon);
    await service.findObjects([id], 1, { deadline: Date.now() + 300, waitMsMax: 1_000 });
    await service.findObjects([id], 1, { ...forever, waitMsMax: Number.POSITIVE_INFINITY });
    expect(deadlines).toEqual([1_000, 300, Number.POSITIVE_INFINITY]);
    connection.fateOfNext = () => "lostBefore";
    await expect(service.findObjects([id], 1, soon)).rejects.toThrow("node 'n1' was lost while it worked on");
    expect(connection.sent).toBe(4);
  });

  it.each([1_000, Number.POSITIVE_INFINITY])("waits %s ms or a second for the first connection", async (waitMsMax) => {
    const { node, service } = setUp(now);
    const first = new FakeConnection("n1", served);
    node.connect(first);
    const asked = watched(service.findObjects([id], 1, { ...forever, waitMsMax }));
    await vi.advanceTimersByTimeAsync(999);
    expect(asked.outcome).toBe("waits");
    first.become("ready");
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.outcome).toBe(found);
    node.connect(new FakeConnection("n1", served));
    const late = watched(service.findObjects([id], 1, { ...forever, waitMsMax }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(late.outcome).toBe("unavailable 1: node 'n1' is not reachable");
  });
});

describe("F6: a node is lost", () => {
  it("when its connection is, neither before the first one nor during a drain that it announced", async () => {
    const { node, connection } = setUp(now);
    const seen = (state: "connecting" | "ready" | "draining" | "unreachable") => {
      connection.become(state);
      return node.isLost;
    };
    expect([seen("connecting"), seen("ready"), seen("unreachable"), seen("ready")]).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect([seen("draining"), seen("unreachable")]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(node.isLost).toBe(true);
  });
});

describe("a node that died", () => {
  it("is waited for until a second after it was lost, and not at all later", async () => {
    const { connection, service } = setUp(now, { deleteObject: async () => true });
    connection.become("unreachable");
    await vi.advanceTimersByTimeAsync(400);
    const asked = watched(service.deleteObject(shard, id, forever));
    await vi.advanceTimersByTimeAsync(599);
    expect(asked.outcome).toBe("waits");
    await vi.advanceTimersByTimeAsync(1);
    const message = "unavailable 1: shard s1 of class 'Car': node 'n1' is not reachable";
    expect(asked.outcome).toBe(message);
    const late = watched(service.deleteObject(shard, id, forever));
    await vi.advanceTimersByTimeAsync(0);
    expect(late.outcome).toBe(message);
    connection.become("ready");
    expect(await service.deleteObject(shard, id, forever)).toBe(true);
  });

  it("is tried once more for a request that comes later, which waits for that attempt", async () => {
    const { connection, service } = setUp(now, { deleteObject: async () => true });
    connection.become("unreachable");
    await vi.advanceTimersByTimeAsync(5_000);
    let tried = 0;
    connection.retry = () => ++tried > 0;
    const back = watched(service.deleteObject(shard, id, forever));
    await vi.advanceTimersByTimeAsync(900);
    expect([back.outcome, tried]).toEqual(["waits", 1]);
    connection.become("ready");
    await vi.advanceTimersByTimeAsync(0);
    expect(back.outcome).toBe("answered true");

    connection.become("unreachable");
    await vi.advanceTimersByTimeAsync(5_000);
    const failed = watched(service.deleteObject(shard, id, forever));
    const bounded = watched(service.deleteObject(shard, id, { deadline: Date.now() + 300 }));
    await vi.advanceTimersByTimeAsync(300);
    const message = "unavailable 1: shard s1 of class 'Car': node 'n1' is not reachable";
    expect([failed.outcome, bounded.outcome]).toEqual(["waits", message]);
    connection.become("unreachable");
    await vi.advanceTimersByTimeAsync(0);
    const silent = watched(service.deleteObject(shard, id, forever));
    await vi.advanceTimersByTimeAsync(999);
    expect([failed.outcome, silent.outcome]).toEqual([message, "waits"]);
    await vi.advanceTimersByTimeAsync(1);
    expect([silent.outcome, tried]).toEqual([message, 4]);
  });

  it.each<[string, (service: ShardService) => Promise<unknown>, boolean]>([
    ["a read", (service) => service.getObjects(shard, [id], ROWS, forever), true],
    ["an upsert", (service) => service.putObjects(shard, [object("a")], "upsert", forever), true],
    ["a replacement", (service) => service.putObjects(shard, [object("a")], "replace", forever), true],
    ["a creation", (service) => service.putObjects(shard, [object("a")], "create", forever), false],
    ["a deletion", (service) => service.deleteObject(shard, id, forever), false],
    ["a merge that sets", (service) => service.mergeObject(shard, { ...NO_MERGE, set: { a: 1 } }, forever), true],
    ["a merge that adds", (service) => service.mergeObject(shard, { ...NO_MERGE, append: { a: [] } }, forever), false],
    [
      "a merge that removes",
      (service) => service.mergeObject(shard, { ...NO_MERGE, remove: { a: [] } }, forever),
      false,
    ],
    ["merges that set", (service) => service.mergeObjects(shard, [{ ...NO_MERGE, set: { a: 1 } }], forever), true],
    [
      "merges of which one adds",
      (service) => service.mergeObjects(shard, [NO_MERGE, { ...NO_MERGE, append: { a: [] } }], forever),
      false,
    ],
  ])("is asked once more for %s", async (_, ask, isRepeated) => {
    const response = async () => [] as never;
    const { connection, service } = setUp(now, {
      getObjects: response,
      putObjects: response,
      mergeObject: response,
      mergeObjects: response,
      deleteObject: response,
    });
    const fates: Fate[] = ["lostAfter", "lostAfter", "answered"];
    connection.fateOfNext = () => fates.shift() ?? "answered";
    const twice = watched(ask(service));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(connection.sent).toBe(isRepeated ? 2 : 1);
    const reported = isRepeated ? "" : ", which may have been carried out";
    expect(twice.outcome).toBe(
      `unavailable 1: shard s1 of class 'Car': node 'n1' was lost while it worked on the request${reported}: the connection was lost`,
    );
    fates.unshift("neverSent");
    fates.length = 1;
    const never = watched(ask(service));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(never.outcome).toBe("answered []");
  });
});

it("what the node itself answers is passed on as it is, and never retried", async () => {
  const refusal = new ShoalError("unavailable", "shard s1 of class 'Car' on node 'n1' could not be opened");
  const { connection, service } = setUp(now, { shardStatuses: () => Promise.reject(refusal) });
  await expect(service.shardStatuses(forever)).rejects.toBe(refusal);
  expect(connection.sent).toBe(1);
});

it.each([
  new ShoalError("overloaded", "node 'n1' has 10000 requests under way", { retryAfterSeconds: 1 }),
  new ShoalError("deadlineExceeded", "too late"),
])("what is turned away for another reason than absence is told as it is: %s", async (refusal) => {
  const { connection, service } = setUp(now, { shardStatuses: () => Promise.reject(undelivered(refusal, "never")) });
  await expect(service.shardStatuses(forever)).rejects.toBe(refusal);
  expect(connection.sent).toBe(1);
});

it("a node that is there and cannot do it now is asked once more, and says itself why", async () => {
  const error = new ShoalError("unavailable", "node 'n1' is at version 1 of the schema", { retryAfterSeconds: 1 });
  const { connection, service } = setUp(now, { getObjects: () => Promise.reject(undelivered(error, "never")) });
  const asked = watched(service.getObjects(shard, [id], ROWS, forever));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked.outcome).toBe(
    "unavailable 1: shard s1 of class 'Car': node 'n1' turned the request away: node 'n1' is at version 1 of the schema",
  );
  expect(connection.sent).toBe(2);
});

it("requests that wait are bounded in number and bytes, over all nodes", async () => {
  const held = new HeldRequests({ heldRequestsMax: 3, heldRequestBytesMax: 10_000 });
  const one = setUp(now, {}, held);
  const two = setUp(now, {}, held);
  one.connection.become("draining");
  two.connection.become("draining");
  const large = [object("x".repeat(4_000))];
  const first = watched(one.service.putObjects(shard, large, "upsert", forever));
  const tooLarge = watched(two.service.putObjects(shard, large, "upsert", forever));
  const second = watched(two.service.deleteObject(shard, id, forever));
  const third = watched(one.service.deleteObject(shard, id, forever));
  const tooMany = watched(one.service.deleteObject(shard, id, forever));
  await vi.advanceTimersByTimeAsync(0);
  expect(tooLarge.outcome).toMatch(/^overloaded 1: node 'n1' is not there, and 1 requests with \d+ bytes wait/);
  expect(tooMany.outcome).toMatch(/^overloaded 1: node 'n1' is not there, and 3 requests/);
  expect([first, second, third].map(({ outcome }) => outcome)).toEqual(["waits", "waits", "waits"]);
  await vi.advanceTimersByTimeAsync(WAIT_MS);
  expect(held.count).toBe(0);
});
