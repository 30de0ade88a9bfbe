import type { KeyValueReader } from "@shoal/kv";
import type { ObjectId } from "@shoal/model";
import { idOfRowKey, rowRange } from "./key-layout.js";
import { RowView } from "./row.js";

/** Reads all rows in the order of their ids, in memory that does not grow. Damaged ones are reported and left out. */
export async function scanRows(
  store: KeyValueReader,
  onRow: (id: ObjectId, row: RowView) => void,
  onDamaged: (id: ObjectId | undefined) => void,
): Promise<void> {
  const range = rowRange();
  for await (const chunk of store.scan(range, (key) => onDamaged(idOfRowKey(key)))) {
    for (const { key, value } of chunk) {
      const id = idOfRowKey(key);
      const row = RowView.of(value);
      if (id === undefined || row === undefined) onDamaged(id);
      else onRow(id, row);
    }
  }
}
