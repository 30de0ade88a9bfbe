import type { ObjectListing, StoredObject } from "@shoal/model";
import { nextTurn, type WorkBounds } from "@shoal/runtime";
import { firstById, firstMatching, named } from "./matching-objects.js";
import type { ObjectIndex } from "./object-index.js";
import { heldBytes, readObjects } from "./read-objects.js";
import type { RowReader } from "./read-rows.js";
import type { Views } from "./views.js";

export interface ListedShard {
  readonly views: Views;
  readonly index: ObjectIndex;
  readonly rows: RowReader;
  readonly className: string;
}

/** A page in either order: which objects it holds is known from memory, multi-gets bring their rows. */
export async function listObjects(
  { views, index, rows, className }: ListedShard,
  listing: ObjectListing,
  bounds: WorkBounds,
): Promise<readonly StoredObject[]> {
  const { table } = views;
  const { order, limit, skip = 0, filter, fields } = listing;
  for (;;) {
    const found =
      filter !== undefined
        ? firstMatching(views, index, filter, listing, bounds)
        : order === "id"
          ? firstById(views, listing, bounds)
          : named(table, table.newestPage(skip, limit));
    const objects = found instanceof Promise ? await found : found;
    const read = await readObjects(rows, objects, { className, fields, bounds });
    const page = read.filter((object) => object !== undefined);
    if (page.length === objects.length) return page;
    // Something was deleted between the table and the rows: look again, or the page lacks what moves up.
    bounds.rowBytes?.add(-page.reduce((sum, object) => sum + heldBytes(object), 0));
    await nextTurn(bounds);
  }
}
