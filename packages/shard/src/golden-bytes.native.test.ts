import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { type ObjectId, objectIdToBytes } from "@shoal/model";
import { INCOMPLETE } from "@shoal/replication";
import { describe, expect, it } from "vitest";
import { copyRecordChange, decodeCopyRecord } from "./copy-record.js";
import { decodeFormatRecord, encodeFormatRecord } from "./format-record.js";
import { decodeHeadRecord, encodeHeadRecord } from "./head-record.js";
import { IdSetDigest } from "./id-set-digest.js";
import { indexIsWhole, indexRecord } from "./index-record.js";
import { decodeJournalRecord, encodeJournalRecord, NO_DOCUMENT } from "./journal-record.js";
import { COPY_KEY, FORMAT_KEY, HEAD_KEY, INDEX_KEY, journalKey, rowKey, touchedKey } from "./key-layout.js";
import { encodeRow, RowView, stampPlace, stampTimes } from "./row.js";
import { ALL_FIELDS, propertiesOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

/*
 * What formats 1 to 3 look like, byte for byte. A change that breaks one of these needs a new format version, and these
 * bytes must still be read. The inverted index has golden bytes of its own.
 */
const ID = "01234567-89ab-4cde-8f01-23456789abcd" as ObjectId;
const OTHER_ID = "ffffffff-0000-4000-8000-000000000001" as ObjectId;

const GOLDEN = {
  formatKey: "00",
  headKey: "01",
  rowKey: "6f0123456789ab4cde8f0123456789abcd",
  journalKey: "6a0000000100000002",
  format1: "53484f414c53484401000000 02000000",
  format: "53484f414c53484402000000 02000000",
  /** Of a copy. */
  format3: "53484f414c53484403000000 02000000",
  copyKey: "03",
  copy:
    "01 00 0600 02000000 0900000000000000 0800000000000000 0700000000000000 0200000001000000" +
    "0500000000000000 ffffffffffff1f00 0100000000000000 0100000000000000 0700000000000000 0400000000000000" +
    "6e312f616231",
  touchedKey: "040123456789ab4cde8f0123456789abcd",
  /** Of an entry that changed nothing. */
  nothing:
    "01000000 01000000 0700000000000000" + "0123456789ab4cde8f0123456789abcd 0000000000000000 ffffffff 02 02 0000",
  indexKey: "02",
  wholeIndex: "02000000",
  /** Without the presence of phone numbers and blobs. */
  wholeIndex1: "01000000",
  outdatedIndex: "00000000",
  head: "0200000001000000 0700000000000000 0100000000000000 68fed1e6 b6188864",
  headOfUnknown: "0200000001000000 0700000000000000 ffffffffffffffff 00000000 00000000",
  row:
    "01 03 0000 05000000 0200000001000000 0700000000000000" +
    "0000c05bfebc7842 0010c05bfebc7842 08000000 07000000 02000000 00000000" +
    "7b2261223a317d20 7b2265223a317d 0000803f 000020c0",
  journal:
    "01000000 02000000 0700000000000000" +
    "0123456789ab4cde8f0123456789abcd 0000c05bfebc7842 05000000 01 07 0000" +
    "ffffffff000040008000000000000001 0000000000000000 04000000 02 02 0000",
};

const bytes = (hex: string) => Buffer.from(hex.replaceAll(" ", ""), "hex");
const hex = (value: Uint8Array) => Buffer.from(value).toString("hex");
const CREATED = 1_700_000_021_504;

const IDS = new IdSetDigest();
IDS.add(objectIdToBytes(ID));

const ENTRIES = [
  {
    kind: "put",
    rawId: Buffer.from(objectIdToBytes(ID)),
    document: 5,
    creationTimeUnix: CREATED,
    hasVector: true,
    vectorChanged: true,
    created: true,
  },
  {
    kind: "delete",
    rawId: Buffer.from(objectIdToBytes(OTHER_ID)),
    document: 4,
    creationTimeUnix: 0,
    hasVector: false,
    vectorChanged: true,
    created: false,
  },
] as const;

describe("format 2", () => {
  it("keys", () => {
    expect(hex(FORMAT_KEY)).toBe(GOLDEN.formatKey);
    expect(hex(HEAD_KEY)).toBe(GOLDEN.headKey);
    expect(hex(rowKey(ID))).toBe(GOLDEN.rowKey);
    expect(hex(journalKey(0x1_0000_0002))).toBe(GOLDEN.journalKey);
  });

  it("format and head records", () => {
    expect(hex(encodeFormatRecord(2))).toBe(hex(bytes(GOLDEN.format)));
    expect(decodeFormatRecord(bytes(GOLDEN.format), "here")).toEqual({ version: 2, isCopy: false, dimensions: 2 });
    expect(decodeFormatRecord(bytes(GOLDEN.format1), "here")).toEqual({ version: 1, isCopy: false, dimensions: 2 });
    const head = { sequence: 0x1_0000_0002, epoch: 7, ids: IDS };
    expect(hex(encodeHeadRecord(head))).toBe(hex(bytes(GOLDEN.head)));
    expect(decodeHeadRecord(bytes(GOLDEN.head))).toEqual(head);
    const unknown = { ...head, ids: undefined };
    expect(hex(encodeHeadRecord(unknown))).toBe(hex(bytes(GOLDEN.headOfUnknown)));
    expect(decodeHeadRecord(bytes(GOLDEN.headOfUnknown))).toEqual(unknown);
    expect(() => decodeHeadRecord(bytes(GOLDEN.head).subarray(1))).toThrow("cannot be read");
  });

  it("index record", () => {
    expect(hex(INDEX_KEY)).toBe(GOLDEN.indexKey);
    expect(indexRecord(true)).toMatchObject({ type: "put", key: INDEX_KEY, value: bytes(GOLDEN.wholeIndex) });
    expect(indexRecord(false)).toMatchObject({ type: "put", key: INDEX_KEY, value: bytes(GOLDEN.outdatedIndex) });
    const records = [GOLDEN.wholeIndex, GOLDEN.outdatedIndex, GOLDEN.wholeIndex1, "0200", "0200000000"].map(bytes);
    expect(records.map(indexIsWhole)).toEqual([true, false, false, false, false]);
    expect(indexIsWhole(undefined)).toBe(false);
  });

  it("records of a copy", () => {
    expect(hex(encodeFormatRecord(2, true))).toBe(hex(bytes(GOLDEN.format3)));
    expect(decodeFormatRecord(bytes(GOLDEN.format3), "here")).toEqual({ version: 3, isCopy: true, dimensions: 2 });
    expect(hex(COPY_KEY)).toBe(GOLDEN.copyKey);
    expect(hex(touchedKey(objectIdToBytes(ID)))).toBe(GOLDEN.touchedKey);
    const epochs = [
      { epoch: 1, first: 1 },
      { epoch: 7, first: 4 },
    ];
    const end = { epoch: 7, sequence: 0x1_0000_0002 };
    const state = { since: 9, acceptedEpoch: 8, end, epochs, base: 5, through: INCOMPLETE };
    const record = { name: "n1/ab1", state };
    expect(copyRecordChange(record)).toMatchObject({ type: "put", key: COPY_KEY, value: bytes(GOLDEN.copy) });
    expect(decodeCopyRecord(bytes(GOLDEN.copy))).toEqual(record);
    for (const length of [0, 55, 90]) {
      expect(() => decodeCopyRecord(bytes(GOLDEN.copy).subarray(0, length))).toThrow("cannot be read");
    }
    const entry = { ...ENTRIES[1], rawId: Buffer.from(objectIdToBytes(ID)), document: NO_DOCUMENT };
    expect(hex(encodeJournalRecord([entry], 7))).toBe(hex(bytes(GOLDEN.nothing)));
  });

  it("row", () => {
    const content = { propertiesJson: '{"a":1} ', extrasJson: '{"e":1}', vector: Float32Array.of(1, -2.5) };
    const row = encodeRow(content, { id: ID, bytesMax: 1_000, bytesBefore: 0 });
    stampTimes(row, CREATED, CREATED + 1);
    stampPlace(row, 5, 0x1_0000_0002, 7);
    expect(hex(row)).toBe(hex(bytes(GOLDEN.row)));
    const read = RowView.of(bytes(GOLDEN.row));
    expect(read).toMatchObject({ document: 5, sequence: 0x1_0000_0002, epoch: 7, dimensions: 2, hasVector: true });
    expect(read?.toObject(ID, "Book", ALL_FIELDS)).toMatchObject({
      creationTimeUnix: CREATED,
      lastUpdateTimeUnix: CREATED + 1,
      vector: Float32Array.of(1, -2.5),
      extras: { e: 1 },
    });
  });

  it("journal record", () => {
    expect(hex(encodeJournalRecord(ENTRIES, 7))).toBe(hex(bytes(GOLDEN.journal)));
    expect(decodeJournalRecord(bytes(GOLDEN.journal), 9)).toEqual({
      firstSequence: 8,
      lastSequence: 9,
      epoch: 7,
      entries: ENTRIES,
    });
  });

  const opened = async (under: ShardUnderTest): Promise<void> => {
    const shard = await under.open({ epoch: 7 });
    const [object] = await shard.getObjects([ID], ALL_FIELDS);
    expect(propertiesOf(object)).toEqual({ a: 1 });
    const hits = await shard.searchByVector({ vector: Float32Array.of(1, -2.5), count: 3, fields: undefined });
    expect(hits.map((hit) => hit.id)).toEqual([ID]);
    expect(shard.dimensions).toBe(2);
    const value = { kind: "int", values: [1] } as const;
    expect(await shard.matchingIds({ operator: "Equal", property: "a", value }, 10)).toEqual([ID]);
    expect(await shard.matchingIds({ operator: "NotEqual", property: "a", value }, 10)).toEqual([]);
    await shard[Symbol.asyncDispose]();
  };

  it("a shard of format 1 opens and answers, and is one of format 2 afterwards", async () => {
    const store = new MemoryStore();
    await using under = await ShardUnderTest.create(store);
    await store.write([
      { type: "put", key: bytes(GOLDEN.formatKey), value: bytes(GOLDEN.format1) },
      { type: "put", key: bytes(GOLDEN.headKey), value: bytes(GOLDEN.head) },
      { type: "put", key: bytes(GOLDEN.rowKey), value: bytes(GOLDEN.row) },
      { type: "put", key: bytes(GOLDEN.journalKey), value: bytes(GOLDEN.journal) },
    ]);
    await opened(under);
    expect(under.events).toContainEqual(expect.objectContaining({ type: "indexBuilt", objectCount: 1 }));
    expect(hex((await store.get(FORMAT_KEY)) ?? Buffer.of())).toBe(hex(bytes(GOLDEN.format)));
    expect(hex((await store.get(INDEX_KEY)) ?? Buffer.of())).toBe(GOLDEN.wholeIndex);
    under.events.length = 0;
    await opened(under);
    expect(under.events.map(({ type }) => type)).not.toContain("indexBuilt");
    await store.write([{ type: "put", key: INDEX_KEY, value: bytes(GOLDEN.wholeIndex1) }]);
    await opened(under);
    expect(under.events).toContainEqual(expect.objectContaining({ type: "indexBuilt", objectCount: 1 }));
    expect(hex((await store.get(INDEX_KEY)) ?? Buffer.of())).toBe(GOLDEN.wholeIndex);
  });

  it.each([
    ["short", (row: Buffer) => row.subarray(0, 55)],
    ["cut", (row: Buffer) => row.subarray(0, row.length - 1)],
    ["of a version to come", (row: Buffer) => Buffer.concat([Buffer.of(2), row.subarray(1)])],
  ])("a row that is %s is not read", (_name, harm) => {
    expect(RowView.of(harm(bytes(GOLDEN.row)))).toBeUndefined();
  });

  it.each([[0], [15], [40]])("a journal record of %i bytes is not read", (length) => {
    expect(() => decodeJournalRecord(bytes(GOLDEN.journal).subarray(0, length), 9)).toThrow("cannot be read");
  });
});
