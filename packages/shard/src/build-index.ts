import type { IndexedChange, InvertedIndex } from "@shoal/inverted-index";
import type { KeyValueChange, KeyValueEntry, KeyValueStore } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { nextStep } from "@shoal/runtime";
import { decodeFormatRecord, encodeFormatRecord } from "./format-record.js";
import type { IdTable } from "./id-table.js";
import { indexRecord } from "./index-record.js";
import { FORMAT_KEY, indexRanges, rawIdOfRowKey, rowRange } from "./key-layout.js";
import { RowView } from "./row.js";
import type { OnShardEvent } from "./shard-events.js";

/** One batch of the store has the entries of about so many objects, or of this many bytes of properties. */
const OBJECTS_PER_BATCH = 500;
const BYTES_PER_BATCH = 1024 * 1024;
const KEYS_PER_CLEAR = 4_096;

export interface IndexBuild {
  readonly store: KeyValueStore;
  readonly table: IdTable;
  /** New: it takes its records for gone. */
  readonly index: InvertedIndex;
  readonly signal: AbortSignal;
  readonly onEvent: OnShardEvent;
  /** Names the shard in messages. */
  readonly place: string;
}

/**
 * Builds the inverted index from the rows; nothing else may write meanwhile. What there was is cleared first, the mark
 * that all is there comes last, and with it the format that knows of an index: whatever ends this in between, the next
 * one starts again. Fails with `dataLoss` when a row is lost; its object is known as lost then.
 */
export async function buildIndex(build: IndexBuild): Promise<void> {
  const { store, place } = build;
  await store.write([indexRecord(false)], { sync: true });
  await clear(build);
  await indexRows(build);
  const format = await store.get(FORMAT_KEY);
  const { dimensions, isCopy = false } = format === undefined ? {} : decodeFormatRecord(format, place);
  const formatRecord = { type: "put", key: FORMAT_KEY, value: encodeFormatRecord(dimensions, isCopy) } as const;
  await store.write([formatRecord, indexRecord(true)], { sync: true });
}

async function clear({ store, signal }: IndexBuild): Promise<void> {
  let batch: KeyValueChange[] = [];
  const remove = (key: Uint8Array) => batch.push({ type: "del", key: Uint8Array.from(key) });
  for (const range of indexRanges()) {
    // A key that is not quite read belongs to a block that no deletion would reach: reading it will tell.
    for await (const chunk of store.scan(range, (key) => key.length > 0 && remove(key))) {
      signal.throwIfAborted();
      for (const { key } of chunk) remove(key);
      if (batch.length < KEYS_PER_CLEAR) continue;
      await store.write(batch, { sync: false });
      batch = [];
    }
  }
  if (batch.length > 0) await store.write(batch, { sync: false });
}

async function indexRows(build: IndexBuild): Promise<void> {
  const { signal } = build;
  const seen = new Seen(build);
  let changes: IndexedChange[] = [];
  let bytes = 0;
  // Which row a damaged record was shows in the end, by the object that lacks one.
  for await (const chunk of build.store.scan(rowRange(), () => {})) {
    for (const entry of chunk) {
      const change = seen.row(entry);
      if (change === undefined) continue;
      changes.push(change);
      bytes += change.after?.propertiesJson.length ?? 0;
      if (changes.length < OBJECTS_PER_BATCH && bytes < BYTES_PER_BATCH) continue;
      await write(build, changes);
      changes = [];
      bytes = 0;
      await nextStep({ signal });
    }
  }
  if (changes.length > 0) await write(build, changes);
  seen.checkAll();
}

async function write({ store, index }: IndexBuild, changes: readonly IndexedChange[]): Promise<void> {
  const planned = await index.plan(changes);
  try {
    await store.write(planned.batch, { sync: false });
  } catch (error) {
    planned.failed();
    throw error;
  }
  planned.applied();
}

/** Which objects of the table a row was found for. */
class Seen {
  readonly #build: IndexBuild;
  readonly #documents: Uint8Array;

  constructor(build: IndexBuild) {
    this.#build = build;
    this.#documents = new Uint8Array(build.table.documentLimit);
  }

  /** Undefined when it is not the row of an object. */
  row({ key, value }: KeyValueEntry): IndexedChange | undefined {
    const rawId = rawIdOfRowKey(key);
    const after = RowView.of(value);
    const document = rawId === undefined ? -1 : this.#build.table.findRaw(rawId);
    if (after === undefined || document < 0) return undefined;
    this.#documents[document] = 1;
    return { document, before: undefined, after };
  }

  /** Marks the objects as lost that no row was found for. */
  checkAll(): void {
    const { table, place, onEvent } = this.#build;
    const lost = Array.from(table.present()).filter((document) => this.#documents[document] !== 1);
    for (const document of lost) {
      const damage = { what: "row", id: table.idOf(document), reason: "its record is damaged or gone" } as const;
      onEvent({ type: "damageFound", damage });
      table.markLost(document);
    }
    if (lost.length === 0) return;
    throw new ShoalError("dataLoss", `${place} has damaged rows: its inverted index is built when they are healed`);
  }
}
