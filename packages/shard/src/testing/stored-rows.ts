import type { KeyValueStore } from "@shoal/kv";
import type { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { ObjectId } from "@shoal/model";
import { rowKey, rowRange } from "../key-layout.js";

/** Every row of a shard as its store has it, in the order of the keys: equal for copies that hold the same. */
export async function storedRows(store: KeyValueStore): Promise<readonly string[]> {
  const rows: string[] = [];
  for await (const chunk of store.scan(rowRange())) {
    for (const { key, value } of chunk)
      rows.push(`${Buffer.from(key).toString("hex")} ${Buffer.from(value).toString("hex")}`);
  }
  return rows;
}

/** The disk has changed a bit of the row of an object. */
export function damageRow(store: MemoryStore, id: ObjectId): void {
  store.damage(rowKey(id), (envelope) => {
    envelope[envelope.length - 1] = (envelope.at(-1) ?? 0) ^ 1;
  });
}
