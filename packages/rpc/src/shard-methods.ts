import {
  bytesOfAggregate,
  type DataObject,
  type MeasuredRecall,
  type ObjectListing,
  type ObjectMerge,
  type PutMode,
  type PutTimes,
  type RowFields,
  ShoalError,
  type StoredObject,
  type VectorSearch,
} from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { CopyReport, ShardAddress, ShardRecall, ShardService, ShardSize, ShardStatus } from "./shard-service.js";
import { shardAggregate, shardAggregation } from "./wire/aggregate-codec.js";
import { type Codec, count, id, text, type Wire } from "./wire/codec.js";
import { error } from "./wire/error-codec.js";
import { filter } from "./wire/filter-codec.js";
import { dataObject, objectMerge, putTimes, rowFields, shardAddress, storedObject } from "./wire/object-codec.js";

type MethodName = keyof ShardService;

/** The arguments of a method but the context, which every method has last. */
type ArgsOf<Name extends MethodName> =
  Parameters<ShardService[Name]> extends [...infer Args, RequestContext] ? Args : never;

type ResponseOf<Name extends MethodName> = Awaited<ReturnType<ShardService[Name]>>;

/** What clients, the server and whoever sends a call again need to know of a method. They name none themselves. */
export interface ShardMethod<Args extends readonly unknown[], Response> {
  /** Sent; never given to another method. */
  readonly code: number;
  /** It is about the node. Absent: about the shard of its first argument. */
  readonly target?: "node";
  /** Of a read, who may answer it, of a shard with copies: any that is in sync, or the primary alone, whose responses are linear. Absent: it writes. */
  readonly reads?: "anyCopy" | "primary";
  /** Which argument has items whose outcomes, one each, are the response: some of them may be refused as `moved`. Absent: none. */
  readonly items?: number;
  /** Whether a call that may have been carried out may be sent again: reads may, and what changes nothing the second time. */
  readonly isRepeatable: (...args: Args) => boolean;
  readonly request: Codec<Args>;
  readonly response: (wire: Wire, response: Response | undefined, args: Args) => Response;
  /** About so much memory it takes while it waits for its node. Absent: next to none. */
  readonly heldBytes?: (...args: Args) => number;
  /**
   * Whether request or answer may be so large that they take the stream for bulk, whatever the request's own size. Absent: no;
   * requests that are large take it for that alone.
   */
  readonly isBulk?: (...args: Args) => boolean;
  /** Whether the request is so long that its codec yields. Absent: never. */
  readonly isLong?: (...args: Args) => boolean;
  /** Whether what arrives of a response counts as rows that are held. Absent: no. */
  readonly hasRows?: (...args: Args) => boolean;
  /** What a response that is no rows takes in memory. Absent: next to nothing. */
  readonly aggregateBytes?: (response: Response) => number;
}

/** Pages of so many rows go beside the small requests. */
const SMALL_ROWS_MAX = 256;

/** Shorter lists are written and read at once. */
const LONG_ITEMS = 16;

const MODES: readonly PutMode[] = ["create", "replace", "upsert"];
const ORDERS: readonly ObjectListing["order"][] = ["newest", "id"];
const STATUSES: readonly ShardStatus["status"][] = ["ready", "readOnly", "failed"];
const COPY_STATES: readonly CopyReport["state"][] = ["IN_SYNC", "CATCHING_UP", "DAMAGED"];
const QUERIES: readonly MeasuredRecall["queries"][] = ["asked", "rows"];

const always = () => true;
const never = () => false;

/** Which methods have a shard for their first argument, and are about it. */
type TargetOf<Args> = Args extends readonly [ShardAddress, ...unknown[]] ? object : { readonly target: "node" };

/** The one table of the methods of `ShardService`. */
const METHODS: {
  readonly [Name in MethodName]: ShardMethod<ArgsOf<Name>, ResponseOf<Name>> & TargetOf<ArgsOf<Name>>;
} = {
  putObjects: {
    code: 1,
    items: 1,
    isRepeatable: (_shard, _objects, mode) => isRepeatablePut(mode),
    request(wire, args) {
      const shard = shardAddress(wire, args?.[0]);
      const mode = wire.choice(MODES, "mode of a put", args?.[2]);
      const objects = wire.longList<DataObject>(args?.[1], (to, object) => dataObject(to, object, shard.className));
      return [shard, objects, mode];
    },
    response: outcomes,
    heldBytes: (_shard, objects) => bytesOfObjects(objects),
    isLong: (_shard, objects) => objects.length > LONG_ITEMS,
  },
  mergeObject: {
    code: 2,
    isRepeatable: (_shard, merge) => isRepeatableMerge(merge),
    request: (wire, args) => [shardAddress(wire, args?.[0]), objectMerge(wire, args?.[1])],
    response: (wire, object, [shard]) => storedObject(wire, object, shard.className),
    heldBytes: (_shard, merge) => bytesOfMerge(merge),
    hasRows: always,
  },
  mergeObjects: {
    code: 3,
    items: 1,
    isRepeatable: (_shard, merges) => merges.every(isRepeatableMerge),
    request: (wire, args) => [shardAddress(wire, args?.[0]), wire.longList(args?.[1], objectMerge)],
    response: outcomes,
    heldBytes: (_shard, merges) => merges.reduce((sum, merge) => sum + bytesOfMerge(merge), 0),
    isLong: (_shard, merges) => merges.length > LONG_ITEMS,
  },
  deleteObject: {
    code: 4,
    // Done twice it would deny that the object was there.
    isRepeatable: never,
    request: (wire, args) => [shardAddress(wire, args?.[0]), wire.id(args?.[1])],
    response: (wire, wasThere) => wire.flag(wasThere),
  },
  getObjects: {
    code: 5,
    reads: "primary",
    isRepeatable: always,
    request: (wire, args) => [shardAddress(wire, args?.[0]), wire.list(args?.[1], id), rowFields(wire, args?.[2])],
    response: (wire, objects, [{ className }]) =>
      wire.list<StoredObject | undefined>(objects, (to, object) => optionalRow(to, object, className)),
    isBulk: (_shard, ids) => ids.length > SMALL_ROWS_MAX,
    hasRows: (_shard, _ids, fields) => keepsRows(fields),
  },
  findObjects: {
    code: 6,
    target: "node",
    isRepeatable: always,
    request: (wire, args) => [wire.list(args?.[0], id), wire.count(args?.[1])],
    response: (wire, found) => ({
      holders: wire.list(found?.holders, (to, shards) => to.list(shards, shardAddress)),
      unasked: wire.list(found?.unasked, (to, one) => ({
        shard: shardAddress(to, one?.shard),
        error: error(to, one?.error),
      })),
    }),
    isBulk: (ids) => ids.length > SMALL_ROWS_MAX,
  },
  searchByVector: {
    code: 7,
    reads: "anyCopy",
    isRepeatable: always,
    request: (wire, args) => [shardAddress(wire, args?.[0]), vectorSearch(wire, args?.[1])],
    response: (wire, hits, [{ className }]) =>
      wire.list(hits, (to, hit) => {
        const distance = to.double(hit?.distance);
        const object = optionalRow(to, hit?.object, className);
        const hitId = object === undefined ? to.id(hit?.id) : object.id;
        return hit ?? { id: hitId, distance, object };
      }),
    isBulk: (_shard, search) => search.count > SMALL_ROWS_MAX,
    hasRows: (_shard, { fields }) => fields !== undefined && keepsRows(fields),
  },
  listObjects: {
    code: 8,
    reads: "anyCopy",
    isRepeatable: always,
    request: (wire, args) => [shardAddress(wire, args?.[0]), objectListing(wire, args?.[1])],
    response: (wire, objects, [{ className }]) =>
      wire.list(objects, (to, object) => storedObject(to, object, className)),
    isBulk: (_shard, { limit }) => limit > SMALL_ROWS_MAX,
    hasRows: (_shard, { fields }) => keepsRows(fields),
  },
  matchingIds: {
    code: 9,
    reads: "anyCopy",
    isRepeatable: always,
    request: (wire, args) => [shardAddress(wire, args?.[0]), filter(wire, args?.[1]), wire.double(args?.[2])],
    response: (wire, ids) => wire.list(ids, id),
    isBulk: always,
  },
  aggregate: {
    code: 10,
    reads: "anyCopy",
    isRepeatable: always,
    request: (wire, args) => [shardAddress(wire, args?.[0]), shardAggregation(wire, args?.[1])],
    response: shardAggregate,
    isBulk: always,
    aggregateBytes: bytesOfAggregate,
  },
  shardStatuses: {
    code: 11,
    target: "node",
    isRepeatable: always,
    request: () => [],
    response: (wire, statuses) => wire.list(statuses, shardStatus),
  },
  shardRecalls: {
    code: 12,
    target: "node",
    isRepeatable: always,
    request: () => [],
    response: (wire, recalls) => wire.list(recalls, shardRecall),
  },
  shardCopies: {
    code: 13,
    target: "node",
    isRepeatable: always,
    request: () => [],
    response: (wire, copies) => wire.list(copies, copyReport),
  },
  shardSizes: {
    code: 14,
    target: "node",
    isRepeatable: always,
    request: () => [],
    response: (wire, sizes) => wire.list(sizes, shardSize),
  },
};

function outcomes(wire: Wire, value?: ResponseOf<"putObjects">): ResponseOf<"putObjects"> {
  return wire.list<PutTimes | ShoalError>(value, (to, outcome) => {
    const isError = to.flag(outcome instanceof ShoalError);
    return isError ? error(to, outcome as ShoalError | undefined) : putTimes(to, outcome as PutTimes | undefined);
  });
}

/** As `wire.optional`, without a function for each message. */
function optionalRow(wire: Wire, object: StoredObject | undefined, className: string): StoredObject | undefined {
  return wire.flag(object !== undefined) ? storedObject(wire, object, className) : undefined;
}

function vectorSearch(wire: Wire, search: VectorSearch | undefined): Required<VectorSearch> {
  return {
    vector: wire.floats(search?.vector),
    count: wire.double(search?.count),
    fields: wire.optional(search?.fields, rowFields),
    filter: wire.optional(search?.filter, filter),
    shards: wire.optional(search?.shards, count),
    rowsMax: wire.optional(search?.rowsMax, count),
  };
}

function objectListing(wire: Wire, listing: ObjectListing | undefined): Required<ObjectListing> {
  return {
    order: wire.choice(ORDERS, "order", listing?.order),
    after: wire.optional(listing?.after, id),
    limit: wire.double(listing?.limit),
    skip: wire.double(listing?.skip ?? 0),
    filter: wire.optional(listing?.filter, filter),
    fields: rowFields(wire, listing?.fields),
  };
}

const shardStatus: Codec<ShardStatus> = (wire, value) => ({
  address: shardAddress(wire, value?.address),
  objectCount: wire.count(value?.objectCount),
  status: wire.choice(STATUSES, "status of a shard", value?.status),
  reason: wire.optional(value?.reason, text),
});

const shardRecall: Codec<ShardRecall> = (wire, value) => ({
  address: shardAddress(wire, value?.address),
  recall: {
    target: wire.double(value?.recall.target),
    recall: wire.double(value?.recall.recall),
    error: wire.double(value?.recall.error),
    candidates: wire.double(value?.recall.candidates),
    sample: wire.count(value?.recall.sample),
    queries: wire.choice(QUERIES, "queries of a measured recall", value?.recall.queries),
    linked: wire.count(value?.recall.linked),
    measuredAtMs: wire.double(value?.recall.measuredAtMs),
  },
});

const copyReport: Codec<CopyReport> = (wire, value) => ({
  address: shardAddress(wire, value?.address),
  name: wire.text(value?.name),
  state: wire.choice(COPY_STATES, "state of a copy", value?.state),
  isPrimary: wire.flag(value?.isPrimary),
  end: wire.count(value?.end),
});

const shardSize: Codec<ShardSize> = (wire, value) => ({
  address: shardAddress(wire, value?.address),
  diskBytes: wire.count(value?.diskBytes),
  vectorMemoryBytes: wire.count(value?.vectorMemoryBytes),
});

/** Rows of which no part is asked for are not counted, as in the process. */
function keepsRows({ properties, vector, extras }: RowFields): boolean {
  return properties || vector || extras;
}

/**
 * Of objects that are put, `upsert` and `replace` leave the same behind however often they are done, and tell the same
 * unless somebody else deleted the object meanwhile, which may as well have come first. A creation that is done twice
 * refuses its own id.
 */
function isRepeatablePut(mode: PutMode): boolean {
  return mode !== "create";
}

/** Whether values are set and nothing else: a reference that is added or taken away twice is one too many. */
function isRepeatableMerge({ append, remove }: ObjectMerge): boolean {
  return isEmpty(append) && isEmpty(remove);
}

function isEmpty(members: object): boolean {
  for (const _ in members) return false;
  return true;
}

function bytesOfObjects(objects: readonly DataObject[]): number {
  return objects.reduce(
    (sum, { vector, properties, extras }) => sum + (vector?.byteLength ?? 0) + bytesOf(properties) + bytesOf(extras),
    0,
  );
}

function bytesOfMerge({ set, append, remove, vector }: ObjectMerge): number {
  return (vector?.byteLength ?? 0) + bytesOf(set) + bytesOf(append) + bytesOf(remove);
}

const BYTES_OF_VALUE = 16;

function bytesOf(value: unknown): number {
  if (typeof value === "string") return BYTES_OF_VALUE + 2 * value.length;
  if (typeof value !== "object" || value === null) return BYTES_OF_VALUE;
  if (ArrayBuffer.isView(value)) return BYTES_OF_VALUE + value.byteLength;
  return Object.values(value).reduce<number>((sum, member) => sum + bytesOf(member), BYTES_OF_VALUE);
}

type Untyped = ShardMethod<readonly unknown[], unknown>;

/** A method as whoever carries any of them sees it: what its arguments are, its own functions know. */
export interface AnyShardMethod extends Untyped {
  readonly name: string;
  readonly heldBytes: NonNullable<Untyped["heldBytes"]>;
  readonly isBulk: NonNullable<Untyped["isBulk"]>;
  readonly hasRows: NonNullable<Untyped["hasRows"]>;
}

const DEFAULTS = {
  ...{ target: undefined, reads: undefined, items: undefined, heldBytes: () => 0, isBulk: never, isLong: undefined },
  ...{ hasRows: never, aggregateBytes: undefined },
};

/** All of them. */
export const SHARD_METHODS: readonly AnyShardMethod[] = Object.entries(METHODS).map(
  ([name, method]) => ({ name, ...DEFAULTS, ...method }) as unknown as AnyShardMethod,
);

/** Carries out a call: `args` are those that the method has beside the context. */
export type CarryCall = (method: AnyShardMethod, args: readonly unknown[], context: RequestContext) => Promise<unknown>;

/** A service each of whose methods is carried out by `carry`. */
export function shardServiceBy(carry: CarryCall): ShardService {
  const methods = SHARD_METHODS.map((method) => [
    method.name,
    (...args: unknown[]) => {
      const context = args.pop() as RequestContext;
      return carry(method, args, context);
    },
  ]);
  return Object.fromEntries(methods) as ShardService;
}

/** Calls a method of `service`. */
export function callService(
  service: ShardService,
  { name }: AnyShardMethod,
  args: readonly unknown[],
  context: RequestContext,
): Promise<unknown> {
  const methods = service as unknown as Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
  return methods[name]?.(...args, context) ?? Promise.reject(new ShoalError("internal", `there is no method ${name}`));
}

/** The shard that a call is about; undefined: it is about the node. */
export function shardOf({ target }: AnyShardMethod, args: readonly unknown[]): ShardAddress | undefined {
  return target === "node" ? undefined : (args[0] as ShardAddress);
}
