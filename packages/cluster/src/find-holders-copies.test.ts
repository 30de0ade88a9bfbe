import type { ObjectId } from "@shoal/model";
import { type ClassRecord, type ShardAddress, shardKeyOf } from "@shoal/rpc";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CopiesWorld, copiedClass, objectOf } from "./copies-world.fixture.js";
import { findHolders, type OwnId } from "./find-holders.js";
import { watched } from "./retrying-node.fixture.js";

const forever = { deadline: Number.POSITIVE_INFINITY };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** `Car` has copies, `Bus` has none; the shards of each are spread over all nodes. */
function setUp() {
  const world = new CopiesWorld([copiedClass("Car"), copiedClass("Bus", 3, 1)]);
  const ask = async (ids: readonly ObjectId[], own?: OwnId) => {
    const found = await findHolders(world.map, world.schema, ids, forever, own);
    return found.map(
      ({ holding, failure }) => `${holding.map(({ definition }) => definition.class)}|${failure?.message ?? ""}`,
    );
  };
  const store = (shard: ShardAddress, number = 0) => {
    const id = world.idOf(shard, number);
    const times = { creationTimeUnix: 1, lastUpdateTimeUnix: 1 };
    world.rows.get(shardKeyOf(shard))?.set(id, { object: objectOf(id, "a", shard.className), times });
    return id;
  };
  const own = (shard: ShardAddress): [OwnId, ClassRecord] => {
    const record = world.record(shard.className);
    return [{ id: world.idOf(shard, 7), record }, record];
  };
  return { world, ask, store, own };
}

const FIND = { n1: ["findObjects"], n2: ["findObjects"], n3: ["findObjects"] };

describe("findHolders, while shards have copies", () => {
  it("asks each node once, and lets it speak for the shards whose primary it has", async () => {
    const { world, ask, store } = setUp();
    const ids = [0, 1, 2].flatMap((at) => [store(world.shard(at)), store(world.shard(at, "Bus"), 1)]);
    const nobody = world.idOf(world.shard(0), 3);
    const found = await ask([...ids, nobody]);
    expect(found).toEqual(["Car|", "Bus|", "Car|", "Bus|", "Car|", "Bus|", "|"]);
    expect(world.takeCalls()).toEqual(FIND);
  });

  it("asks the next primary when it hears of it, and plans with it from then on", async () => {
    const { world, ask, store } = setUp();
    const id = store(world.shard(0));
    expect(await ask([id])).toEqual(["Car|"]);
    world.takeCalls();
    world.promote(world.shard(0), "n2");
    expect(await ask([id])).toEqual(["Car|"]);
    expect(world.takeCalls()).toEqual({ ...FIND, n2: ["findObjects", "findObjects"] });
    expect(await ask([id])).toEqual(["Car|"]);
    expect(world.takeCalls()).toEqual(FIND);
    // What concerns no id that is asked for is not asked again.
    world.promote(world.shard(1), "n3");
    world.promote(world.shard(2), "n1");
    expect(await ask([id])).toEqual(["Car|"]);
    expect(world.takeCalls()).toEqual(FIND);
  });

  it("waits for the next primary of a node that died on behalf of an id that is nowhere else", async () => {
    const { world, ask, store } = setUp();
    const [on1, on2] = [store(world.shard(0)), store(world.shard(1))];
    await ask([on1]);
    world.die("n1");
    expect(await ask([on2])).toEqual(["Car|"]);
    const seen = watched(ask([on1, on2]));
    await vi.advanceTimersByTimeAsync(4_000);
    expect(seen.outcome).toBe("waits");
    world.promote(world.shard(0), "n3", "n1");
    world.view.tell();
    await vi.advanceTimersByTimeAsync(200);
    expect(seen.outcome).toBe('answered ["Car|","Car|"]');
    expect(world.held.count).toBe(0);
  });

  it("waits on behalf of a class's own id for the shard that owns it, and for no other", async () => {
    const { world, ask, own } = setUp();
    world.die("n1");
    const [first] = own(world.shard(0));
    const [second] = own(world.shard(1));
    const other = watched(ask([second.id], second));
    const seen = watched(ask([first.id], first));
    await vi.advanceTimersByTimeAsync(200);
    expect([other.outcome, seen.outcome]).toEqual(['answered ["|"]', "waits"]);
    await vi.advanceTimersByTimeAsync(3_000);
    world.promote(world.shard(0), "n2", "n1");
    world.view.tell();
    await vi.advanceTimersByTimeAsync(200);
    expect(seen.outcome).toBe('answered ["|"]');
  });

  it("says which shard cannot be asked when no other copy takes its place", async () => {
    const { world, ask, own } = setUp();
    world.die("n1");
    const [first] = own(world.shard(0));
    const seen = watched(ask([first.id], first));
    await vi.advanceTimersByTimeAsync(16_000);
    const { shardName } = world.shard(0);
    expect(seen.outcome).toBe(`answered ["|shard ${shardName} of class 'Car': node 'n1' is not reachable"]`);
    const lost = world.shard(0, "Bus");
    const bus = watched(ask([world.idOf(lost)]));
    await vi.advanceTimersByTimeAsync(16_000);
    expect(bus.outcome).toContain(`shard ${lost.shardName} of class 'Bus': node 'n1' is not reachable`);
  });

  it("asks a silent node's shards elsewhere once its link is given up", async () => {
    const { world, ask, store } = setUp();
    const id = store(world.shard(0));
    world.fallSilent("n1");
    const seen = watched(ask([id]));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(seen.outcome).toBe("waits");
    world.promote(world.shard(0), "n2", "n1");
    world.view.tell();
    await vi.advanceTimersByTimeAsync(1_200);
    expect(seen.outcome).toBe('answered ["Car|"]');
  });
});
