import type { KeyValueChange, KeyValueReader, KeyValueStore } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { decodeHeadRecord, type Head } from "./head-record.js";
import { IdSetDigest } from "./id-set-digest.js";
import { decodeJournalRecord, type JournalRecord } from "./journal-record.js";
import { HEAD_KEY, journalRangeAfter, journalRangeUpTo, sequenceOfJournalKey } from "./key-layout.js";

const KEYS_PER_CUT = 4_096;

/** The last change ever made; undefined when the record of it is damaged. */
export async function readHead(store: KeyValueReader): Promise<Head | undefined> {
  const [value] = await store.getMany([HEAD_KEY]);
  if (value === undefined) return { sequence: 0, epoch: 0, ids: new IdSetDigest() };
  if (!(value instanceof Error)) return decodeHeadRecord(value);
  if (ShoalError.from(value).code === "dataLoss") return undefined;
  throw value;
}

/** The highest sequence in any journal key, damaged records included. */
export async function highestJournalSequence(store: KeyValueReader): Promise<number> {
  let highest = 0;
  const see = (key: Uint8Array) => {
    highest = Math.max(highest, sequenceOfJournalKey(key) ?? 0);
  };
  for await (const chunk of store.scan(journalRangeAfter(0), see)) {
    for (const { key } of chunk) see(key);
  }
  return highest;
}

/**
 * Records with changes after `sequence`, without a gap among them; the first may begin before. Fails with `dataLoss`
 * when one is damaged or missing.
 */
export async function readJournalAfter(store: KeyValueReader, sequence: number): Promise<readonly JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const chunk of store.scan(journalRangeAfter(sequence))) {
    for (const { key, value } of chunk) {
      const record = decodeJournalRecord(value, sequenceOfJournalKey(key) ?? 0);
      const before = records.at(-1)?.lastSequence;
      if (before !== undefined && record.firstSequence !== before + 1) {
        throw new ShoalError("dataLoss", `the journal goes from change ${before} to ${record.firstSequence}`);
      }
      records.push(record);
    }
  }
  return records;
}

/** Deletes the records that end at or before `sequence`. They may come back after a power cut; that does no harm. */
export async function cutJournal(store: KeyValueStore, sequence: number): Promise<void> {
  let batch: KeyValueChange[] = [];
  const cut = (key: Uint8Array) => batch.push({ type: "del", key: Uint8Array.from(key) });
  for await (const chunk of store.scan(journalRangeUpTo(sequence), cut)) {
    for (const { key } of chunk) cut(key);
    if (batch.length < KEYS_PER_CUT) continue;
    await store.write(batch, { sync: false });
    batch = [];
  }
  if (batch.length > 0) await store.write(batch, { sync: false });
}
