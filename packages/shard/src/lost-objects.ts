import { type ObjectId, ShoalError } from "@shoal/model";
import type { IdTable } from "./id-table.js";

/** While the row of an object is lost, what would have to take it into account is not answered. */
export function lostObjectError(id: ObjectId, place: string, what: string): ShoalError {
  return new ShoalError(
    "dataLoss",
    `object '${id}' of ${place} is lost to damage: ${what} work again when it is written anew or deleted`,
  );
}

/** While rows are lost together with their ids. The way out is an import of all objects, or of a new class. */
export function unknownObjectsError(table: IdTable, place: string, what: string): ShoalError {
  const missing = (table.expected?.count ?? 0) - table.count;
  const objects = missing > 0 ? (missing === 1 ? "1 object" : `${missing} objects`) : "some objects";
  const way =
    table.expected === undefined
      ? "the class is restored or is deleted and imported anew"
      : "all objects of the class are written anew, or the class is restored";
  return new ShoalError(
    "dataLoss",
    `${objects} of ${place} lost to damage, ids unknown: ${what} work again when ${way}`,
  );
}
