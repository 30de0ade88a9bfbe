import type { ShardRouter } from "@shoal/cluster";
import { type DataAction, type ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";
import { requireTime } from "./ingest-yielder.js";

/** What goes to one shard. */
export interface ShardGroup<Item> {
  readonly shard: ShardAddress;
  readonly items: Item[];
}

/** The items by the shard that owns their object, each shard's in their order. */
export function groupByShard<Item>(
  router: ShardRouter,
  items: Iterable<Item>,
  placeOf: (item: Item) => { readonly record: ClassRecord; readonly id: ObjectId },
): readonly ShardGroup<Item>[] {
  const groups = new Map<string, ShardGroup<Item>>();
  for (const item of items) {
    const { record, id } = placeOf(item);
    const shard = router.shardOf(record, id);
    // Of two records of a class, before and after a change, the shard has two addresses.
    const key = `${shard.classId}/${shard.shardName}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { shard, items: [item] });
    else group.items.push(item);
  }
  return [...groups.values()];
}

/** How the items of a batch that go to one shard are written. */
export interface ChunkedWork<Item> {
  /** The class of the items, and what is done to its objects. */
  readonly className: string;
  readonly actions: readonly DataAction[];
  /** Where the chunk that begins at `from` ends. */
  readonly end: (from: number) => number;
  readonly store: (chunk: readonly Item[]) => Promise<void>;
  /** Called with each item that was not stored, and why. */
  readonly onFailed: (item: Item, error: ShoalError) => void;
}

/**
 * Stores items one chunk after the other, each when whoever asks may still do it; the observer hears of each item for which he may
 * not. A chunk that fails takes those behind it with it, and nothing else. Fails itself only when the time of the batch is over;
 * what was acknowledged by then stays.
 */
export async function storeInChunks<Item>(
  parts: Pick<IngestParts, "nowMs" | "rightsOf">,
  items: readonly Item[],
  { className, actions, end, store, onFailed }: ChunkedWork<Item>,
  context: RequestContext,
): Promise<void> {
  let done = 0;
  let lacked: DataAction | undefined;
  try {
    while (done < items.length) {
      requireTime(parts, context);
      const rights = context.rights && parts.rightsOf?.(context.rights.holder);
      lacked = rights && actions.find((action) => !rights.may(action, className));
      if (lacked !== undefined) rights?.require(lacked, className);
      const next = end(done);
      await store(items.slice(done, next));
      done = next;
    }
  } catch (thrown) {
    const error = ShoalError.from(thrown);
    if (error.code === "deadlineExceeded") throw error;
    for (const item of items.slice(done)) {
      onFailed(item, error);
      if (lacked !== undefined) context.observer?.denied(lacked, className);
    }
  }
}
