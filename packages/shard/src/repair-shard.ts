import { join } from "node:path";
import { DocumentSet } from "@shoal/inverted-index";
import {
  DamagedKeys,
  type KeyHistory,
  type KeyValueChange,
  type KeyValueStore,
  NewestVersions,
  type RepairWorkshop,
  repairStore,
  type StoreRepaired,
} from "@shoal/kv";
import { objectIdFromBytes, ShoalError } from "@shoal/model";
import { copyRecordChange, emptiedCopyState } from "./copy-record.js";
import { encodeFormatRecord } from "./format-record.js";
import { encodeHeadRecord } from "./head-record.js";
import { IdSetDigest } from "./id-set-digest.js";
import { IdTable } from "./id-table.js";
import { readIdTableSnapshot } from "./id-table-snapshot.js";
import { indexRecord } from "./index-record.js";
import { FORMAT_KEY, HEAD_KEY, rawIdOfRowKey, rowKeyOfRawId, rowRange } from "./key-layout.js";
import { RowView } from "./row.js";
import { judgeRow, type RowEvidence, type RowVerdict } from "./row-salvage.js";
import { ShardFacts } from "./shard-facts.js";

export interface ShardRepair {
  /** The folder of the shard's store. */
  readonly rows: string;
  /** The folder of its snapshots: what the id table knows is evidence. */
  readonly views: string;
  /** False: says what a repair would do. */
  readonly isWritten: boolean;
  readonly nowMs: number;
  readonly onProgress?: (bytes: number, allBytes: number) => void;
}

/** How many there are, and the first of their ids. */
export interface SomeIds {
  count: number;
  readonly ids: string[];
}

export interface SalvagedRows {
  /** In the new store. */
  readonly objects: number;
  /** As the head record has it; undefined when no head record can be read. */
  readonly expected: number | undefined;
  /** The ids are exactly those of the last head record that can be read. */
  readonly hasExpectedIds: boolean;
  /** Objects that existed and are not in the new store, as far as their ids are known. */
  readonly lost: SomeIds;
  /** … that are there as they were before a change that is lost. */
  readonly stale: SomeIds;
  /** … of which a newer change, or the deletion, may have been in what is damaged. */
  readonly doubtful: SomeIds;
  /** Rows of deleted objects, left out. */
  readonly deleted: number;
}

const IDS_MAX = 10_000;
const PAGE_KEYS = 4_096;

/**
 * Beyond every change that a snapshot, a log or a journal of the damaged shard may know of: none of them is believed by the new
 * one, which makes its views and its inverted index from the rows.
 */
const SEQUENCE_GAP = 2 ** 32;

/** Repairs the store of a shard that is not open; see `repairStore`. Fails with `unavailable` on a newer data format. */
export function repairShard({ views, rows, ...repair }: ShardRepair): Promise<StoreRepaired<SalvagedRows>> {
  const seen = new ShardFacts();
  return repairStore<SalvagedRows>({
    ...repair,
    folder: rows,
    inspect: { see: (version) => seen.see(version), result: () => seen.damage },
    salvage: (workshop) => new RowSalvage(workshop).run(join(views, "ids.snapshot")),
    verify: verifyRows,
  });
}

async function verifyRows(store: KeyValueStore, { objects }: SalvagedRows): Promise<void> {
  let count = 0;
  for await (const chunk of store.scan(rowRange())) {
    for (const { key, value } of chunk) {
      if (rawIdOfRowKey(key) !== undefined && RowView.of(value) !== undefined) count += 1;
    }
  }
  if (count === objects) return;
  throw new ShoalError(
    "internal",
    `the new store has ${count} of ${objects} objects: the damaged one is left as it is`,
  );
}

class RowSalvage {
  readonly #workshop: RepairWorkshop;
  readonly #newest: NewestVersions;
  readonly #facts = new ShardFacts();
  readonly #digest = new IdSetDigest();
  readonly #lost: SomeIds = { count: 0, ids: [] };
  readonly #stale: SomeIds = { count: 0, ids: [] };
  readonly #doubtful: SomeIds = { count: 0, ids: [] };
  /** Documents of the id table that the files have something of. */
  readonly #seen = new DocumentSet();
  #deleted = 0;

  constructor(workshop: RepairWorkshop) {
    this.#workshop = workshop;
    this.#newest = new NewestVersions(workshop.ledger, workshop.target, (payload) => {
      const row = RowView.of(payload);
      return row && { rank: row.sequence, tag: row.document };
    });
  }

  async run(idsSnapshot: string): Promise<SalvagedRows> {
    for await (const versions of this.#workshop.read()) {
      const notes = versions.flatMap((version) => this.#facts.see(version));
      const rows = versions.filter(({ key }) => rawIdOfRowKey(key) !== undefined);
      await this.#newest.add(rows, notes);
    }
    const evidence = await this.#gatherEvidence(idsSnapshot);
    const owners = await this.#ownersOfDocuments(evidence);
    await this.#settleRows(evidence, owners);
    await this.#findUnseen(evidence.table);
    await this.#writeRecords();
    const ids = this.#facts.head?.ids;
    return {
      objects: this.#digest.count,
      expected: ids?.count,
      hasExpectedIds: ids !== undefined && this.#digest.equals(ids),
      lost: this.#lost,
      stale: this.#stale,
      doubtful: this.#doubtful,
      deleted: this.#deleted,
    };
  }

  async #gatherEvidence(idsSnapshot: string): Promise<RowEvidence> {
    const { damage } = this.#workshop;
    const snapshot = await readIdTableSnapshot(idsSnapshot).catch(() => undefined);
    const tableSequence = snapshot?.sequence ?? -1;
    const all = new DamagedKeys(damage);
    const tables = new DamagedKeys(damage.filter(({ file }) => file.endsWith(".sst")));
    return {
      table: snapshot && IdTable.fromImage(snapshot.image, 0),
      tableSequence,
      isTableOfStore: tableSequence <= this.#facts.sequence,
      mayHaveLostAny: (key) => all.mayHaveLost(key, -1),
      mayHaveLostNewer: (key, written) => tables.mayHaveLost(key, written),
    };
  }

  async #settleRows(evidence: RowEvidence, owners: DocumentOwners): Promise<void> {
    for await (const histories of this.#newest.histories()) {
      const removed: KeyValueChange[] = [];
      for (const history of histories) {
        const rawId = rawIdOfRowKey(history.key) ?? history.key;
        const document = evidence.table?.findRaw(rawId) ?? -1;
        if (document >= 0) this.#seen.add(document);
        const verdict = owners.settle(judgeRow(history, rawId, evidence), history);
        const isLeftOut = this.#note(verdict, rawId);
        if (isLeftOut && history.rank >= 0) removed.push({ type: "del", key: history.key });
      }
      await this.#workshop.target?.write(removed, { sync: false });
    }
  }

  /** Counts a row; true: it does not belong into the new store. */
  #note(verdict: RowVerdict, rawId: Uint8Array): boolean {
    if (verdict === "deleted") this.#deleted += 1;
    if (verdict === "lost") addId(this.#lost, rawId);
    if (verdict === "stale") addId(this.#stale, rawId);
    if (verdict === "doubtful") addId(this.#doubtful, rawId);
    if (isKept(verdict)) this.#digest.add(rawId);
    return !isKept(verdict);
  }

  /**
   * A document belongs to one object at a time, and is given on after a deletion only: of two rows with the same one, the
   * older is that of a deleted object.
   */
  async #ownersOfDocuments(evidence: RowEvidence): Promise<DocumentOwners> {
    const owners = new DocumentOwners();
    const certain = { ...evidence, mayHaveLostAny: () => false, mayHaveLostNewer: () => false };
    for await (const histories of this.#newest.histories()) {
      for (const history of histories) {
        const verdict = judgeRow(history, rawIdOfRowKey(history.key) ?? history.key, certain);
        if (isKept(verdict)) owners.add(history);
      }
    }
    return owners;
  }

  /** Objects of the id table of which no file has anything. */
  async #findUnseen(table: IdTable | undefined): Promise<void> {
    if (table === undefined) return;
    let page: Uint8Array[] = [];
    const look = () => {
      const damaged = new DamagedKeys(this.#workshop.damage);
      for (const key of page.sort(Buffer.compare)) {
        if (damaged.mayHaveLost(key, -1)) addId(this.#lost, rawIdOfRowKey(key) ?? key);
      }
      page = [];
    };
    for (const document of table.present()) {
      if (this.#seen.has(document)) continue;
      page.push(rowKeyOfRawId(table.rawIdOf(document)));
      if (page.length === PAGE_KEYS) look();
    }
    look();
  }

  /** The last write, synced with all before it. */
  async #writeRecords(): Promise<void> {
    const { dimensions, sequence, epoch, copy, isCopy } = this.#facts;
    const head = { sequence: sequence + SEQUENCE_GAP, epoch, ids: this.#digest };
    // Whether it has everything that was acknowledged is not known: it is the same copy, and incomplete.
    const emptied = copy && { ...copy, state: emptiedCopyState(copy.state) };
    await this.#workshop.target?.write([
      ...(emptied === undefined ? [] : [copyRecordChange(emptied)]),
      { type: "put", key: FORMAT_KEY, value: encodeFormatRecord(dimensions, isCopy) },
      { type: "put", key: HEAD_KEY, value: encodeHeadRecord(head) },
      indexRecord(false),
    ]);
  }
}

function addId(some: SomeIds, rawId: Uint8Array): void {
  some.count += 1;
  if (some.ids.length < IDS_MAX) some.ids.push(objectIdFromBytes(rawId));
}

function isKept(verdict: RowVerdict): boolean {
  return verdict === "kept" || verdict === "stale" || verdict === "doubtful";
}

/** The change that gave each document to the object that has it: eight bytes a document. */
class DocumentOwners {
  #ranks = new Float64Array(1024).fill(-1);

  add({ tag: document, rank }: KeyHistory): void {
    if (document >= this.#ranks.length) {
      const more = new Float64Array(Math.max(document + 1, this.#ranks.length * 2)).fill(-1);
      more.set(this.#ranks);
      this.#ranks = more;
    }
    this.#ranks[document] = Math.max(this.#ranks[document] ?? -1, rank);
  }

  /** What becomes of a row that was judged without a look at the others. */
  settle(verdict: RowVerdict, { tag: document, rank }: KeyHistory): RowVerdict {
    if (!isKept(verdict) || (this.#ranks[document] ?? -1) <= rank) return verdict;
    return verdict === "stale" ? "lost" : "deleted";
  }
}
