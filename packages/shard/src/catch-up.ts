import type { KeyValueStore } from "@shoal/kv";
import { decodeFormatRecord } from "./format-record.js";
import { FORMAT_KEY } from "./key-layout.js";
import { readHead, readJournalAfter } from "./read-journal.js";
import { replayIntoIndex, replayIntoTable } from "./replay-journal.js";
import type { OnShardEvent } from "./shard-events.js";
import type { VectorIndexSource } from "./vector-indexes.js";
import type { Views } from "./views.js";

export interface CatchUp {
  readonly store: KeyValueStore;
  readonly views: Views;
  readonly source: VectorIndexSource;
  readonly onEvent: OnShardEvent;
  /** Names the shard in messages. */
  readonly place: string;
}

/** Applies what the journal has beyond the views of a running shard. */
export async function catchUp(
  options: CatchUp,
): Promise<{ readonly documents: readonly number[]; readonly dimensions: number | undefined }> {
  const { store, views, source, onEvent, place } = options;
  const records = await readJournalAfter(store, views.sequence);
  const last = records.at(-1)?.lastSequence;
  if (last === undefined) return { documents: [], dimensions: undefined };
  const format = await store.get(FORMAT_KEY);
  const dimensions = format === undefined ? undefined : decodeFormatRecord(format, place).dimensions;
  const index =
    dimensions === undefined || source.skip ? undefined : (views.index ?? (await source.create(dimensions)));
  const head = await readHead(store);
  const documents: number[] = [];
  const freed: number[] = [];
  replayIntoTable(views.table, records, views.sequence, (entry, document) => {
    documents.push(entry.document);
    if (document !== undefined) freed.push(document);
    else views.table.claim(entry.document);
  });
  if (index !== undefined) {
    await replayIntoIndex(index, views.table, records, views.sequence, last, store, onEvent);
  }
  views.table.expected = head?.ids;
  views.index = index;
  views.sequence = last;
  for (const document of freed) views.recycling.release(document);
  return { documents, dimensions };
}
