import type { FileDamage, FoundVersion, KeyNote } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { type CopyRecord, decodeCopyRecord } from "./copy-record.js";
import { decodeFormatRecord } from "./format-record.js";
import { decodeHeadRecord, type Head } from "./head-record.js";
import { decodeJournalRecord, type JournalRecord } from "./journal-record.js";
import { COPY_KEY, FORMAT_KEY, HEAD_KEY, rawIdOfRowKey, rowKeyOfRawId, sequenceOfJournalKey } from "./key-layout.js";
import { RowView } from "./row.js";
import { noteOf } from "./row-salvage.js";

/** What the records of a shard say together, whatever the order in which they are seen. */
export class ShardFacts {
  /** The newest head record that can be read. */
  head: Head | undefined;
  dimensions: number | undefined;
  /** Of the copy records that can be read, the one of the highest epoch. */
  copy: CopyRecord | undefined;
  /** Whether there was one, or has to be one. */
  isCopy = false;
  /** The last change and the highest epoch that any record knows of. */
  sequence = 0;
  epoch = 0;
  #hasFormat = false;
  #records = 0;
  #damaged = 0;

  /** What the record says of rows. Fails with `unavailable` when a newer release has written the shard. */
  see(version: FoundVersion): readonly KeyNote[] {
    this.#records += 1;
    if (version.kind === "damaged") this.#damaged += 1;
    if (version.kind !== "value") return [];
    const { key, payload } = version;
    if (Buffer.compare(key, FORMAT_KEY) === 0) this.#seeFormat(payload);
    else if (Buffer.compare(key, HEAD_KEY) === 0) this.#seeHead(payload);
    else if (Buffer.compare(key, COPY_KEY) === 0) this.#seeCopy(payload);
    else if (rawIdOfRowKey(key) !== undefined) this.#seeRow(payload);
    const sequence = sequenceOfJournalKey(key);
    return sequence === undefined ? [] : this.#seeJournal(payload, sequence);
  }

  /** What is wrong although the files may be whole. */
  get damage(): FileDamage | undefined {
    const reason =
      this.#damaged > 0
        ? `has ${this.#damaged} damaged records`
        : this.#records > 0 && !this.#hasFormat
          ? "has no format record"
          : undefined;
    return reason === undefined ? undefined : { file: "store", reason, ...NOTHING_LOST };
  }

  #seeFormat(payload: Uint8Array): void {
    const { dimensions, isCopy } = decodeFormatRecord(payload, "the shard");
    this.isCopy ||= isCopy;
    this.#hasFormat = true;
    this.dimensions ??= dimensions;
  }

  #seeHead(payload: Uint8Array): void {
    const head = orUnreadable(() => decodeHeadRecord(payload));
    if (head === undefined) return;
    if (this.head === undefined || head.sequence > this.head.sequence) this.head = head;
    this.#reach(head.sequence, head.epoch);
  }

  #seeCopy(payload: Uint8Array): void {
    this.isCopy = true;
    const copy = orUnreadable(() => decodeCopyRecord(payload));
    if (copy === undefined) return;
    if (this.copy === undefined || copy.state.acceptedEpoch >= this.copy.state.acceptedEpoch) this.copy = copy;
  }

  #seeRow(payload: Uint8Array): void {
    const row = RowView.of(payload);
    if (row === undefined) return;
    if (row.hasVector) this.dimensions ??= row.dimensions;
    this.#reach(row.sequence, row.epoch);
  }

  #seeJournal(payload: Uint8Array, sequence: number): readonly KeyNote[] {
    const record: JournalRecord | undefined = orUnreadable(() => decodeJournalRecord(payload, sequence));
    if (record === undefined) return [];
    this.#reach(record.lastSequence, record.epoch);
    return record.entries.map(({ rawId, kind }, index) => ({
      key: rowKeyOfRawId(rawId),
      note: noteOf(record.firstSequence + index, kind === "delete"),
    }));
  }

  #reach(sequence: number, epoch: number): void {
    this.sequence = Math.max(this.sequence, sequence);
    this.epoch = Math.max(this.epoch, epoch);
  }
}

/** Where the damaged records were is known by their keys. */
const NOTHING_LOST = {
  offset: undefined,
  lower: new Uint8Array(0),
  upper: new Uint8Array(0),
  sequenceMax: -1,
};

function orUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (ShoalError.from(thrown).code === "dataLoss") return undefined;
    throw thrown;
  }
}
