import { type DataObject, ShoalError } from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { type ChunkedWork, groupByShard, type ShardGroup, storeInChunks } from "./chunks.js";
import type { IngestLimits, IngestParts } from "./ingest-parts.js";
import type { BatchOutcome, ObjectInput } from "./ingest-service.js";

/** An item of a batch that passed all checks. */
export interface BatchItem {
  /** Its place in the batch. */
  readonly index: number;
  readonly input: ObjectInput;
  readonly record: ClassRecord;
  readonly object: DataObject;
}

/**
 * Puts the items into their shards and writes each one's outcome to its place in `outcomes`. Shards work side by side,
 * the chunks of one shard one after the other, so that of equal ids the last one stays. A shard that fails takes only its
 * own items with it. Fails with `deadlineExceeded` when the deadline passes.
 */
export async function storeBatch(
  parts: Pick<IngestParts, "router" | "nowMs" | "limits" | "rightsOf">,
  items: readonly BatchItem[],
  outcomes: (BatchOutcome | undefined)[],
  context: RequestContext,
): Promise<void> {
  const groups = groupByShard(parts.router, items, ({ record, object: { id } }) => ({ record, id }));
  await Promise.all(groups.map((group) => storeGroup(parts, group, outcomes, context)));
}

async function storeGroup(
  parts: Pick<IngestParts, "router" | "nowMs" | "limits" | "rightsOf">,
  { shard, items }: ShardGroup<BatchItem>,
  outcomes: (BatchOutcome | undefined)[],
  context: RequestContext,
): Promise<void> {
  const work: ChunkedWork<BatchItem> = {
    className: shard.className,
    actions: ["create_data", "update_data"],
    end: (from) => chunkEnd(items, from, parts.limits),
    store: async (chunk) => {
      const objects = chunk.map((item) => item.object);
      const results = await parts.router.node(shard).putObjects(shard, objects, "upsert", context);
      for (const [at, item] of chunk.entries()) outcomes[item.index] = outcomeOf(item, results[at], shard);
    },
    onFailed: (item, error) => {
      outcomes[item.index] = failed(item, error);
    },
  };
  await storeInChunks(parts, items, work, context);
}

function outcomeOf(item: BatchItem, result: unknown, shard: ShardAddress): BatchOutcome {
  if (result instanceof ShoalError) return failed(item, result);
  if (isPutTimes(result)) {
    const { creationTimeUnix, lastUpdateTimeUnix } = result;
    return { written: { object: item.object, creationTimeUnix, lastUpdateTimeUnix } };
  }
  const { shardName, className } = shard;
  return failed(
    item,
    new ShoalError("internal", `shard '${shardName}' of class '${className}' gave no outcome of a put`),
  );
}

function isPutTimes(result: unknown): result is { creationTimeUnix: number; lastUpdateTimeUnix: number } {
  return typeof result === "object" && result !== null && "creationTimeUnix" in result;
}

function failed(item: BatchItem, error: ShoalError): BatchOutcome {
  return { error, id: item.object.id, input: item.input };
}

/** Where the chunk that begins at `from` ends: at least one item, then as many as the limits allow. */
function chunkEnd(items: readonly BatchItem[], from: number, limits: IngestLimits): number {
  const last = Math.min(items.length, from + limits.chunkObjectsMax);
  let bytes = items[from]?.object.vector?.byteLength ?? 0;
  let end = from + 1;
  for (; end < last; end++) {
    bytes += items[end]?.object.vector?.byteLength ?? 0;
    if (bytes > limits.chunkVectorBytesMax) break;
  }
  return end;
}
