import { type ClassRights, type ObjectId, ShoalError, type StoredObject } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot, ShardAddress, ShardService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { expect, it } from "vitest";
import { findFirstHolder, findHolders } from "./find-holders.js";
import type { ShardRouter } from "./shard-router.js";

const ID = "00000000-0000-4000-8000-000000000001" as ObjectId;
const OTHER = "00000000-0000-4000-8000-000000000002" as ObjectId;
const PLAIN: RequestContext = { deadline: Number.POSITIVE_INFINITY };
const WITH_ROLES: RequestContext = { ...PLAIN, rights: {} as ClassRights };

const CLOSED = new ShoalError("unavailable", "it is closed");

const record = (name: string) => ({ definition: { class: name }, classId: name }) as unknown as ClassRecord;

/** One node; creation times by class and id. Objects of `Broken` cannot be read, those of `Deleted` go after they were found. */
function world(times: Readonly<Record<string, Readonly<Record<string, number>>>>) {
  const classes = Object.keys(times).map(record);
  const addresses = new Map(
    classes.map(({ classId }) => [classId, { classId, className: classId, shardName: "s" }] as const),
  );
  const shardOf = ({ classId }: ClassRecord): ShardAddress => addresses.get(classId) as ShardAddress;
  let reads = 0;
  const node: Partial<ShardService> = {
    findObjects: async (ids) => ({
      holders: ids.map((id) => classes.map(shardOf).filter(({ classId }) => times[classId]?.[id] !== undefined)),
      unasked: classes
        .filter(({ classId }) => classId === "Closed")
        .map((one) => ({ shard: shardOf(one), error: CLOSED })),
    }),
    getObjects: async ({ classId }, ids) => {
      reads++;
      if (classId === "Broken") throw new ShoalError("unavailable", "it cannot be read");
      if (classId === "Deleted") return ids.map(() => undefined);
      return ids.map((id) => ({ id, creationTimeUnix: times[classId]?.[id] }) as StoredObject);
    },
  };
  const router = {
    ...{ shardOf, shardsOf: (one: ClassRecord) => [shardOf(one)], node: () => node as ShardService },
    ...{ nodeNameOf: () => "n", isLost: () => false },
  } as unknown as ShardRouter;
  const schema: SchemaSnapshot = { historyId: "h", version: 1, classes };
  const first = async (context: RequestContext) =>
    (await findFirstHolder(router, schema, ID, context))?.definition.class;
  const all = async (ids: readonly ObjectId[]) =>
    (await findHolders(router, schema, ids, WITH_ROLES)).map(({ holding }) =>
      holding.map(({ definition }) => definition.class).join(),
    );
  return { first, all, reads: () => reads };
}

it("S-roles: an object is not found before an older one of its id in another class", async () => {
  const { first, reads } = world({ Ape: { [ID]: 20 }, Bee: { [ID]: 10 }, Cat: {} });
  expect(await first(PLAIN)).toBe("Ape");
  expect(reads()).toBe(0);
  expect(await first(WITH_ROLES)).toBe("Bee");
  expect(reads()).toBe(2);
});

it("S-roles: of equally old ones the first by name is found", async () => {
  expect(await world({ Bee: { [ID]: 10 }, Ape: { [ID]: 10 } }).first(WITH_ROLES)).toBe("Ape");
});

it("S-roles: while a twin cannot be read, no other one is taken for the oldest; who asks gets its shard's error", async () => {
  for (const age of [5, 20]) {
    const { first, all } = world({ Ape: { [ID]: 10 }, Broken: { [ID]: age }, Cat: { [OTHER]: 1 } });
    await expect(first(WITH_ROLES)).rejects.toThrow("it cannot be read");
    expect(await first(PLAIN)).toBe("Ape");
    // That the id is taken is known all the same, and other ids are not concerned.
    expect(await all([ID, OTHER])).toEqual(["Ape,Broken", "Cat"]);
  }
});

it("S-roles: while a shard that may have an older one cannot be asked, nothing is changed", async () => {
  const { first } = world({ Ape: { [ID]: 10 }, Closed: {} });
  await expect(first(WITH_ROLES)).rejects.toThrow("it is closed");
  expect(await first(PLAIN)).toBe("Ape");
});

it("S-roles: a twin that was deleted meanwhile is none", async () => {
  expect(await world({ Ape: { [ID]: 10 }, Deleted: { [ID]: 1 } }).first(WITH_ROLES)).toBe("Ape");
});

it("S-roles: many ids cost one request a shard, and none where there are no twins", async () => {
  const some = world({ Ape: { [ID]: 20, [OTHER]: 5 }, Bee: { [ID]: 10, [OTHER]: 6 } });
  expect(await some.all([ID, OTHER])).toEqual(["Bee,Ape", "Ape,Bee"]);
  expect(some.reads()).toBe(2);
  const none = world({ Ape: { [ID]: 20 }, Bee: { [OTHER]: 6 } });
  expect(await none.all([ID, OTHER])).toEqual(["Ape", "Bee"]);
  expect(none.reads()).toBe(0);
});

it("S-roles: a node that may have an older twin is waited for, where it matters which one is first", async () => {
  const classes = ["Ape", "Bee"].map(record);
  const waits: string[] = [];
  const nodeOf = (own: string): Partial<ShardService> => ({
    findObjects: async (ids, _version, { waitMsMax }) => {
      waits.push(`${own} ${waitMsMax}`);
      if (own === "Ape" && waitMsMax !== undefined) throw new ShoalError("unavailable", "it restarts");
      const shard = { classId: own, className: own, shardName: "s" };
      return { holders: ids.map(() => [shard]), unasked: [] };
    },
    getObjects: async ({ classId }, ids) =>
      ids.map((id) => ({ id, creationTimeUnix: classId === "Ape" ? 10 : 20 }) as StoredObject),
  });
  const nodes = new Map(classes.map(({ classId }) => [classId, nodeOf(classId) as ShardService]));
  const shardOf = ({ classId }: ClassRecord): ShardAddress => ({ classId, className: classId, shardName: "s" });
  const router = {
    ...{
      shardOf,
      shardsOf: (one: ClassRecord) => [shardOf(one)],
      node: ({ classId }: ShardAddress) => nodes.get(classId),
    },
    ...{ nodeNameOf: ({ classId }: ShardAddress) => classId, isLost: () => false },
  } as unknown as ShardRouter;
  const schema: SchemaSnapshot = { historyId: "h", version: 1, classes };
  expect((await findFirstHolder(router, schema, ID, WITH_ROLES))?.classId).toBe("Ape");
  expect(waits).toEqual(["Ape Infinity", "Bee Infinity", "Ape undefined"]);
  waits.length = 0;
  expect((await findFirstHolder(router, schema, ID, PLAIN))?.classId).toBe("Bee");
  expect(waits).toEqual(["Ape Infinity", "Bee Infinity"]);
});
