import type { KeyValueReader } from "@shoal/kv";
import { type ObjectId, objectIdFromBytes, ShoalError } from "@shoal/model";
import { decodeJournalRecord, type JournalRecord } from "./journal-record.js";
import { journalRangeAfter, sequenceOfJournalKey, touchedRange } from "./key-layout.js";

/** Journal records with changes after `sequence`, one after the other. Fails when one of them begins before: nobody cuts a commit. */
export async function* wholeRecordsAfter(store: KeyValueReader, sequence: number): AsyncIterable<JournalRecord> {
  for await (const chunk of store.scan(journalRangeAfter(sequence))) {
    for (const { key, value } of chunk) {
      const record = decodeJournalRecord(value, sequenceOfJournalKey(key) ?? 0);
      if (record.firstSequence > sequence) yield record;
      else {
        const entries = `${record.firstSequence} to ${record.lastSequence}`;
        throw new ShoalError("internal", `changes ${entries} are one commit, which cannot end at ${sequence}`);
      }
    }
  }
}

/** The objects that the journal names after `after`, and those that a catch-up has touched. */
export async function changedObjects(store: KeyValueReader, after: number): Promise<ReadonlySet<ObjectId>> {
  const ids = new Set<ObjectId>();
  for await (const { entries } of wholeRecordsAfter(store, after)) {
    for (const { rawId } of entries) ids.add(objectIdFromBytes(rawId));
  }
  for await (const chunk of store.scan(touchedRange())) {
    for (const { key } of chunk) ids.add(objectIdFromBytes(key.subarray(1)));
  }
  return ids;
}
