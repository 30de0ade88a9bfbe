import type { KeyValueReader } from "@shoal/kv";
import { rawIdOfRowKey, rowRange } from "./key-layout.js";
import { RowView } from "./row.js";

/**
 * Reads all rows in the order of their ids, in memory that does not grow. Damaged ones are reported and left out. Waits for `pace`
 * between reads, and fails as it does.
 */
export async function scanRows(
  store: KeyValueReader,
  onRow: (rawId: Uint8Array, row: RowView) => void,
  onDamaged: (rawId: Uint8Array | undefined) => void,
  pace?: () => Promise<void>,
): Promise<void> {
  const range = rowRange();
  for await (const chunk of store.scan(range, (key) => onDamaged(rawIdOfRowKey(key)))) {
    await pace?.();
    for (const { key, value } of chunk) {
      const rawId = rawIdOfRowKey(key);
      const row = RowView.of(value);
      if (rawId === undefined || row === undefined) onDamaged(rawId);
      else onRow(rawId, row);
    }
  }
}
