import type { ObjectListing, StoredObject } from "@shoal/model";
import { nextStep, type WorkBounds } from "@shoal/runtime";
import { firstById, firstMatching, named } from "./matching-objects.js";
import { type ListedShard, readMatching } from "./read-matching.js";
import { heldBytes } from "./read-objects.js";

/** A page of which something was deleted or replaced meanwhile is looked for again, at most so often: then it is short. */
const LOOKS_MAX = 8;

/** A page in either order: which objects it holds is known from memory, multi-gets bring their rows. */
export async function listObjects(
  shard: ListedShard,
  listing: ObjectListing,
  bounds: WorkBounds,
): Promise<readonly StoredObject[]> {
  const { views, index } = shard;
  const { table } = views;
  const { order, limit, skip = 0, filter, fields } = listing;
  for (let look = 1; ; look++) {
    const { sequence } = views;
    const found =
      filter !== undefined
        ? firstMatching(views, index, filter, listing, bounds)
        : order === "id"
          ? firstById(views, listing, bounds)
          : named(table, table.newestPage(skip, limit));
    const objects = found instanceof Promise ? await found : found;
    const read = await readMatching(shard, objects, { fields, bounds, filter, sequence });
    const page = read.filter((object) => object !== undefined);
    if (page.length === objects.length || look === LOOKS_MAX) return page;
    // Something was deleted or replaced between the index and the rows: look again, or the page lacks what moves up.
    bounds.rowBytes?.add(-page.reduce((sum, object) => sum + heldBytes(object), 0));
    await nextStep(bounds);
  }
}
