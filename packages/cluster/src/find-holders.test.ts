import { type ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord, FoundObjects, SchemaSnapshot, ShardAddress, ShardService } from "@shoal/rpc";
import { describe, expect, it } from "vitest";
import { findFirstHolder, findHolders } from "./find-holders.js";
import type { ShardRouter } from "./shard-router.js";

const context = { deadline: Number.POSITIVE_INFINITY };
const id = (at: number) => `${at.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000` as ObjectId;

/** Classes whose shards `s0`, `s1`, … lie on the nodes `n0`, `n1`, …; an id belongs to the shard of its number. */
class World implements ShardRouter {
  readonly schema: SchemaSnapshot;
  readonly calls: string[] = [];
  /** How long each of these calls wants to wait. */
  readonly waits: string[] = [];
  /** Nodes that answer only who waits for them. */
  readonly slow = new Set<string>();
  /** `Class/shard` to the ids that it says it has. */
  readonly stored = new Map<string, ObjectId[]>();
  /** Nodes and `Class/shard`s that cannot be asked. */
  readonly down = new Set<string>();
  readonly unknown = new Set<string>();
  readonly #nodes = new Map<string, ShardService>();
  readonly #shards: number;

  constructor(classes: readonly string[], shards: number) {
    this.#shards = shards;
    const records = classes.map((name) => ({ definition: { class: name }, classId: `id-${name}` }) as ClassRecord);
    this.schema = { historyId: "h", version: 7, classes: records };
  }

  shardOf(record: ClassRecord, of: ObjectId): ShardAddress {
    return this.#address(record, Number.parseInt(of.slice(0, 8), 16) % this.#shards);
  }

  shardsOf(record: ClassRecord): readonly ShardAddress[] {
    return Array.from({ length: this.#shards }, (_, at) => this.#address(record, at));
  }

  node({ shardName }: ShardAddress): ShardService {
    const name = shardName.replace("s", "n");
    if (this.unknown.has(name)) throw new ShoalError("unavailable", `${name} is unknown`);
    const known = this.#nodes.get(name) ?? this.#node(name);
    this.#nodes.set(name, known);
    return known;
  }

  #address({ classId, definition }: ClassRecord, at: number): ShardAddress {
    return { classId, className: definition.class, shardName: `s${at}` };
  }

  #node(name: string): ShardService {
    const findObjects: ShardService["findObjects"] = async (ids, version, { waitMsMax }) => {
      this.calls.push(`${name} ${ids.length} v${version}`);
      this.waits.push(`${name} ${waitMsMax}`);
      if (this.down.has(name) || (waitMsMax !== undefined && this.slow.has(name)))
        throw new ShoalError("unavailable", `${name} is down`);
      return this.#find(
        this.schema.classes.map((record) => this.#address(record, Number(name.slice(1)))),
        ids,
      );
    };
    return { findObjects } as Partial<ShardService> as ShardService;
  }

  #find(shards: readonly ShardAddress[], ids: readonly ObjectId[]): FoundObjects {
    const keyOf = ({ className, shardName }: ShardAddress) => `${className}/${shardName}`;
    const asked = shards.filter((shard) => !this.down.has(keyOf(shard)));
    const lost = shards.filter((shard) => this.down.has(keyOf(shard)));
    return {
      holders: ids.map((one) => asked.filter((shard) => this.stored.get(keyOf(shard))?.includes(one))),
      unasked: lost.map((shard) => ({ shard, error: new ShoalError("unavailable", `${keyOf(shard)} is down`) })),
    };
  }
}

async function found(world: World, ...ids: ObjectId[]): Promise<string[]> {
  const holders = await findHolders(world, world.schema, ids, context);
  return holders.map(
    ({ holding, failure }) => `${holding.map(({ definition }) => definition.class)}|${failure?.message ?? ""}`,
  );
}

describe("findHolders", () => {
  it("asks each node once for all ids, with the version of the schema, and sorts classes by name", async () => {
    const world = new World(["C", "A", "B"], 3);
    world.stored.set("C/s1", [id(1), id(4)]);
    world.stored.set("A/s1", [id(1)]);
    world.stored.set("B/s2", [id(2)]);
    expect(await found(world, id(1), id(2), id(3), id(4))).toEqual(["A,C|", "B|", "|", "C|"]);
    expect(world.calls.sort()).toEqual(["n0 4 v7", "n1 4 v7", "n2 4 v7"]);
    expect(await found(new World([], 1), id(1))).toEqual(["|"]);
  });

  it("does not believe a shard that says it has what belongs to another", async () => {
    const world = new World(["A"], 2);
    world.stored.set("A/s0", [id(1)]);
    expect(await found(world, id(1))).toEqual(["|"]);
  });

  it("tells of a node that is down for the ids that may be there, and of a shard likewise", async () => {
    const world = new World(["A", "B"], 3);
    world.stored.set("A/s1", [id(1)]);
    world.down.add("n0").add("B/s1");
    expect(await found(world, id(0), id(1), id(2), id(4))).toEqual([
      "|shard s0 of class 'A' or shard s0 of class 'B': n0 is down",
      "A|B/s1 is down",
      "|",
      "|B/s1 is down",
    ]);
    expect((await findFirstHolder(world, world.schema, id(1), context))?.definition.class).toBe("A");
    expect(await findFirstHolder(world, world.schema, id(2), context)).toBeUndefined();
    await expect(findFirstHolder(world, world.schema, id(4), context)).rejects.toThrow("B/s1 is down");
  });

  it("finds a node again that was unknown", async () => {
    const world = new World(["A", "B"], 2);
    world.stored.set("B/s1", [id(1)]);
    world.unknown.add("n1");
    expect(await found(world, id(0), id(1))).toEqual(["|", "|n1 is unknown"]);
    world.unknown.clear();
    expect(await found(world, id(0), id(1))).toEqual(["|", "B|"]);
    world.unknown.add("n1");
    expect(await found(world, id(0), id(1))).toEqual(["|", "|n1 is unknown"]);
  });

  it("F6: waits for a node that is away only for the ids that nobody else has", async () => {
    const world = new World(["A", "B"], 3);
    world.stored.set("A/s0", [id(0)]).set("B/s1", [id(1)]);
    world.slow.add("n1");
    expect(await found(world, id(0), id(3))).toEqual(["A|", "|"]);
    expect(world.calls).toEqual(["n0 2 v7", "n1 2 v7", "n2 2 v7"]);
    world.calls.length = 0;
    expect(await found(world, id(0), id(1), id(3), id(4))).toEqual(["A|", "B|", "|", "|"]);
    expect(world.calls).toEqual(["n0 4 v7", "n1 4 v7", "n2 4 v7", "n1 2 v7"]);
    expect(world.waits.slice(-4)).toEqual(["n0 Infinity", "n1 Infinity", "n2 Infinity", "n1 undefined"]);
    world.down.add("B/s2");
    world.calls.length = 0;
    // Who has answered is not asked again.
    expect(await found(world, id(2))).toEqual(["|B/s2 is down"]);
    expect(world.calls).toEqual(["n0 1 v7", "n1 1 v7", "n2 1 v7"]);
  });

  it("F6: of an id of a class only the class's own shard is waited for, and matters", async () => {
    const world = new World(["A", "B"], 3);
    const [a, b] = world.schema.classes;
    if (a === undefined || b === undefined) throw new Error();
    const ask = async (one: number, record: ClassRecord | undefined, ...more: ObjectId[]) => {
      world.waits.length = 0;
      const own = { id: id(one), record };
      const holders = await findHolders(world, world.schema, [id(one), ...more], context, own);
      return holders.map(
        ({ holding, failure }) => `${holding.map(({ definition }) => definition.class)}|${failure?.message ?? ""}`,
      );
    };
    expect(await ask(1, a)).toEqual(["|"]);
    expect(world.waits).toEqual(["n0 1000", "n1 undefined", "n2 1000"]);
    world.down.add("B/s1");
    expect(await ask(1, a)).toEqual(["|"]);
    expect(await ask(1, b)).toEqual(["|B/s1 is down"]);
    expect(await ask(1, undefined)).toEqual(["|B/s1 is down"]);
    world.down.clear();
    world.down.add("n1");
    expect(await ask(1, a)).toEqual(["|shard s1 of class 'A': n1 is down"]);
    // Whatever else is asked for along with it is waited for as ever.
    expect(await ask(0, a, id(4))).toEqual(["|", "|shard s1 of class 'A' or shard s1 of class 'B': n1 is down"]);
    expect(world.waits).toEqual(["n0 undefined", "n1 1000", "n2 1000", "n1 undefined"]);
    world.down.clear();
    world.slow.add("n1");
    world.stored.set("B/s1", [id(4)]);
    expect(await ask(0, a, id(4))).toEqual(["|", "B|"]);
    expect(await ask(1, undefined)).toEqual(["|shard s1 of class 'A' or shard s1 of class 'B': n1 is down"]);
    expect(world.waits).toEqual(["n0 1000", "n1 1000", "n2 1000"]);
  });
});
