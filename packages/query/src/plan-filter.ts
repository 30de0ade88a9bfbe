import type { SchemaView, ShardRouter } from "@shoal/cluster";
import {
  type ComparedPath,
  ID_PROPERTY,
  type ObjectId,
  parseObjectId,
  type ShardFilter,
  ShoalError,
  unknownClass,
  type WhereFilter,
  withPrefix,
} from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { fetchRows } from "./fetch-rows.js";
import { mergeIds } from "./merge-ids.js";
import { queryYielder } from "./query-yielder.js";
import { scatter } from "./scatter.js";

/** What filters over references are resolved with. */
export interface FilterParts {
  readonly schema: Pick<SchemaView, "classRecord">;
  readonly router: ShardRouter;
  /** Objects of one class that a reference filter may find; beyond it is refused, never cut (`FILTER_IDS_MAX`). */
  readonly filterIdsMax: number;
}

/** A string and its place in a list. */
const BYTES_OF_ID = 64;

const NO_FIELDS = { properties: false, vector: false, extras: false } as const;

/**
 * The filter as shards of its class get it. Paths over references are resolved from the innermost class outwards: the
 * shards of a class tell which objects match, the class outside asks for objects that refer to one of them. The same
 * inner filter is searched for once. An inner object must exist and be of the class that the path names: a beacon has no
 * class, so of a property of several classes only references to that one count.
 *
 * At once when there are no such paths. Fails with `invalid` on a class that does not exist, and with `tooLarge`, naming
 * the limit, when an inner filter finds more than `filterIdsMax` objects. Messages of shards name the shard.
 */
export function planFilter(
  parts: FilterParts,
  where: WhereFilter,
  context: RequestContext,
): ShardFilter | Promise<ShardFilter> {
  const inner: ComparedPath[] = [];
  addInnerPaths(where, inner);
  return inner.length === 0 ? shardFilter(where, NO_TARGETS) : resolved(parts, where, inner, context);
}

type Targets = (leaf: ComparedPath) => readonly ObjectId[];

const NO_TARGETS: Targets = () => [];

async function resolved(
  parts: FilterParts,
  where: WhereFilter,
  inner: readonly ComparedPath[],
  context: RequestContext,
): Promise<ShardFilter> {
  const distinct = new Map(inner.map((leaf) => [keyOf(innerLeaf(leaf)), leaf]));
  const search = new InnerSearch(parts);
  const found = new Map<string, readonly ObjectId[]>();
  await scatter([...distinct], context, async ([key, leaf], bounds) => {
    found.set(key, await search.targetsOf(leaf, bounds));
  });
  return shardFilter(where, (leaf) => found.get(keyOf(innerLeaf(leaf))) ?? []);
}

/** The inner searches of one filter; each is done once. */
class InnerSearch {
  readonly #found = new Map<string, Promise<readonly ObjectId[]>>();

  constructor(private readonly parts: FilterParts) {}

  /** Ids of the objects that a path's first reference may point to. */
  targetsOf(leaf: ComparedPath, context: RequestContext): Promise<readonly ObjectId[]> {
    const inner = innerLeaf(leaf);
    const key = keyOf(inner);
    let found = this.#found.get(key);
    if (found === undefined) {
      found = this.#search(inner, context);
      this.#found.set(key, found);
    }
    return found;
  }

  async #search({ className, leaf }: InnerLeaf, context: RequestContext): Promise<readonly ObjectId[]> {
    const record = this.parts.schema.classRecord(className);
    if (record === undefined) {
      throw unknownClass(className, []);
    }
    const ids = idsAskedFor(leaf);
    if (ids !== undefined) return this.#existing(record, ids, context);
    if (leaf.path.length === 1) return this.#matching(record, shardFilter(leaf, NO_TARGETS), leaf, context);
    const targets = await this.targetsOf(leaf, context);
    if (targets.length === 0) return [];
    const filter = shardFilter(leaf, () => targets);
    return this.#matching(record, filter, leaf, context);
  }

  /** A path that ends in an id needs no search: the shard that owns it knows whether it is there. */
  async #existing(
    record: ClassRecord,
    ids: readonly ObjectId[],
    context: RequestContext,
  ): Promise<readonly ObjectId[]> {
    const placed = ids.map((id) => ({ id, record }));
    const rows = await fetchRows(this.parts.router, placed, NO_FIELDS, context);
    return ids.filter((_, at) => rows[at] !== undefined);
  }

  async #matching(
    record: ClassRecord,
    filter: ShardFilter,
    leaf: ComparedPath,
    context: RequestContext,
  ): Promise<readonly ObjectId[]> {
    const { router, filterIdsMax } = this.parts;
    const tooMany = () =>
      new ShoalError(
        "tooLarge",
        `the filter on ${JSON.stringify(leaf.path)} matches more than ${filterIdsMax} objects of class ` +
          `'${record.definition.class}' (FILTER_IDS_MAX)`,
      );
    let count = 0;
    const lists = await scatter(router.shardsOf(record), context, async (shard, bounds) => {
      let ids: readonly ObjectId[];
      try {
        ids = await router.node(shard).matchingIds(shard, filter, filterIdsMax, bounds);
      } catch (thrown) {
        if (ShoalError.from(thrown).code === "tooLarge") throw tooMany();
        throw filterFailure(shard, thrown);
      }
      count += ids.length;
      if (count > filterIdsMax) throw tooMany();
      context.rowBytes?.add(ids.length * BYTES_OF_ID);
      return ids;
    });
    return mergeIds(lists, queryYielder(context));
  }
}

/** What a message begins with that is about the filter, whichever shard says it. */
export const FILTER_PREFIX = "invalid 'where' filter: ";

/** What the messages of a shard begin with. */
export function shardPrefix({ className, shardName }: ShardAddress): string {
  return `shard '${shardName}' of class '${className}': `;
}

/** The error of a shard, with the shard in front of it unless the filter is at fault. */
export function filterFailure(shard: ShardAddress, thrown: unknown): ShoalError {
  return withPrefix(ShoalError.from(thrown).code === "invalid" ? FILTER_PREFIX : shardPrefix(shard), thrown);
}

/** A path from its second reference on, in the class that the first one names. */
interface InnerLeaf {
  readonly className: string;
  readonly leaf: ComparedPath;
}

function innerLeaf({ operator, path, value }: ComparedPath): InnerLeaf {
  const [, className, ...rest] = path;
  if (className === undefined || rest.length % 2 === 0) {
    throw new ShoalError("invalid", `a filter's path is property or reference, Class, property, got ${path.join()}`);
  }
  return { className, leaf: { operator, path: rest, value } };
}

/** Equal for inner filters that find the same. */
function keyOf({ className, leaf: { operator, path, value } }: InnerLeaf): string {
  return JSON.stringify([className, path, operator, value.kind, value.values], (_, member: unknown) =>
    typeof member === "bigint" ? `${member}` : member,
  );
}

function addInnerPaths(where: WhereFilter, inner: ComparedPath[]): void {
  if ("operands" in where) for (const operand of where.operands) addInnerPaths(operand, inner);
  else if (where.path.length > 1) inner.push(where);
}

function shardFilter(where: WhereFilter, targets: Targets): ShardFilter {
  if ("operands" in where) {
    return { operator: where.operator, operands: where.operands.map((operand) => shardFilter(operand, targets)) };
  }
  const [property = ""] = where.path;
  if (where.path.length > 1) return { operator: "RefersTo", property, targets: targets(where) };
  return { operator: where.operator, property, value: where.value };
}

/** The ids that a leaf on `id` names, ascending, without doubles; undefined when it is another question. */
function idsAskedFor({ operator, path, value }: ComparedPath): readonly ObjectId[] | undefined {
  if (path.length !== 1 || path[0] !== ID_PROPERTY || value.kind !== "string") return undefined;
  if (operator !== "Equal" && operator !== "ContainsAny") return undefined;
  const ids: ObjectId[] = [];
  for (const text of value.values) {
    // Other ways of writing an id are left to the index, so that they mean the same at every depth.
    if (parseObjectId(text) !== text) return undefined;
    ids.push(text as ObjectId);
  }
  return [...new Set(ids)].sort();
}
