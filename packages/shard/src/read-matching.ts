import type { RowFields, ShardFilter, StoredObject } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import type { ObjectIndex } from "./object-index.js";
import { readObjects } from "./read-objects.js";
import type { FoundObject, RowReader } from "./read-rows.js";
import type { Views } from "./views.js";

export interface ListedShard {
  readonly views: Views;
  readonly index: ObjectIndex;
  readonly rows: RowReader;
  readonly className: string;
  /** Resolves when the commit that is under way is applied. */
  readonly commitUnderWay: () => Promise<void>;
}

interface MatchingReading {
  readonly fields: RowFields;
  readonly bounds: WorkBounds;
  /** That the objects satisfied. Undefined: there is none. */
  readonly filter: ShardFilter | undefined;
  /** The last change that the index had when it was asked, or an earlier one. */
  readonly sequence: number;
}

/**
 * As `readObjects`, and undefined also for an object that was replaced since the index was asked and does not satisfy the filter any
 * more: the store has a commit before the index follows, so that a row may be newer than the result of the index.
 */
export async function readMatching(
  { views, index, rows, className, commitUnderWay }: ListedShard,
  objects: readonly FoundObject[],
  { fields, bounds, filter, sequence }: MatchingReading,
): Promise<readonly (StoredObject | undefined)[]> {
  if (filter === undefined) return readObjects(rows, objects, { className, fields, bounds });
  const newer = new Set<number>();
  const read = await readObjects(rows, objects, {
    className,
    fields,
    bounds,
    onRow: (at, row) => {
      if (row.sequence > sequence) newer.add(at);
    },
  });
  if (newer.size === 0) return read;
  await commitUnderWay();
  return views.recycling.runSearch(async () => {
    const matching = await index.matching(filter, bounds);
    return read.map((object, at) => {
      // Deleted and made again it has another document.
      return object !== undefined && newer.has(at) && !matching.has(views.table.find(object.id)) ? undefined : object;
    });
  });
}
