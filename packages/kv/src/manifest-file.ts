import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkLog, readLogRecords } from "./log-file.js";
import { VarintReader } from "./table-block.js";

/** A table as the MANIFEST knows it; both keys are in it. */
export interface KnownTable {
  readonly smallest: Uint8Array;
  readonly largest: Uint8Array;
  readonly largestSequence: number;
}

/** What a MANIFEST says of the files of its store. */
export interface Manifest {
  readonly name: string;
  readonly number: number;
  /** By file number. */
  readonly tables: ReadonlyMap<number, KnownTable>;
  /** Tables that were there once, and were merged into others. */
  readonly dropped: ReadonlySet<number>;
  /** Changes in logs below it are all in tables. */
  readonly logNumber: number;
  /** False: an end is missing that was never finished, or was cut off. */
  readonly isComplete: boolean;
  /** False: it has lost more than that: tables that the opening which began it has made may not be listed. */
  readonly hasOpening: boolean;
}

export interface FoundManifest {
  /** Undefined: nothing is known of what belongs to the store. */
  readonly manifest: Manifest | undefined;
  readonly damage: readonly { readonly file: string; readonly reason: string }[];
}

/** Finds the MANIFEST that CURRENT names; when that is damaged, the only one that there is. */
export async function findManifest(folder: string): Promise<FoundManifest> {
  const manifests = (await readdir(folder)).filter((name) => /^MANIFEST-\d+$/.test(name));
  const current = await readFile(join(folder, "CURRENT"), "latin1").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  const damage: { file: string; reason: string }[] = [];
  let name = current?.endsWith("\n") ? current.slice(0, -1) : undefined;
  if (current === undefined) damage.push({ file: "CURRENT", reason: "is missing" });
  else if (name === undefined || !/^MANIFEST-\d+$/.test(name)) {
    damage.push({ file: "CURRENT", reason: "is damaged" });
    name = undefined;
  } else if (!manifests.includes(name)) {
    damage.push({ file: name, reason: "is missing" });
    name = undefined;
  }
  // Of several, one may have been begun and not finished.
  if (name === undefined && manifests.length === 1) name = manifests[0];
  if (name === undefined) return { manifest: undefined, damage };
  const log = await readFile(join(folder, name));
  const { isDamaged, wholeBytes } = checkLog(log);
  const manifest = isDamaged ? undefined : parseManifest(name, log, wholeBytes);
  if (manifest === undefined) damage.push({ file: name, reason: "is damaged" });
  return { manifest, damage };
}

/** Reads a MANIFEST up to `wholeBytes`; undefined: this code cannot. */
export function parseManifest(name: string, log: Uint8Array, wholeBytes: number): Manifest | undefined {
  const state = { tables: new Map<number, KnownTable>(), dropped: new Set<number>(), logNumber: 0, hasOpening: false };
  let records = 0;
  for (const record of readLogRecords(log.subarray(0, wholeBytes))) {
    if (!record.isWhole || !applyEdit(record.payload, state)) return undefined;
    records += 1;
  }
  if (records === 0) return undefined;
  return { name, number: Number(name.slice("MANIFEST-".length)), ...state, isComplete: wholeBytes === log.length };
}

// RocksDB `db/version_edit.h`, the tags that a store without column families and blobs has.
const COMPARATOR = 1;
const LOG_NUMBER = 2;
const NEXT_FILE_NUMBER = 3;
const LAST_SEQUENCE = 4;
const COMPACT_POINTER = 5;
const DELETED_FILE = 6;
const PREV_LOG_NUMBER = 9;
const MIN_LOG_NUMBER_TO_KEEP = 10;
const NEW_FILE_2 = 100;
const NEW_FILE_4 = 103;
const COLUMN_FAMILY = 200;
const MAX_COLUMN_FAMILY = 203;
const IN_ATOMIC_GROUP = 300;
const SAFE_TO_IGNORE = 1 << 13;
const LAST_FIELD = 1;
const INTERNAL_KEY_BYTES = 8;

interface ManifestState {
  readonly tables: Map<number, KnownTable>;
  readonly dropped: Set<number>;
  logNumber: number;
  hasOpening: boolean;
}

/** False: an edit that this code cannot read. */
function applyEdit(edit: Uint8Array, state: ManifestState): boolean {
  const reader = new EditReader(edit);
  const added = new Map<number, KnownTable>();
  while (reader.at < edit.length) {
    const tag = reader.next();
    if (tag === LOG_NUMBER) state.logNumber = reader.next();
    else if (tag === NEXT_FILE_NUMBER) {
      // RocksDB begins a MANIFEST with the tables that there were (`WriteCurrentStateToManifest`), and only then says what the opening
      // changed. The number is in that edit, and is not in the first ones.
      reader.next();
      state.hasOpening = true;
    } else if (PLAIN_NUMBERS.has(tag)) reader.next();
    else if (tag === COMPARATOR) reader.bytes();
    else if (tag === COMPACT_POINTER) {
      reader.next();
      reader.bytes();
    } else if (tag === DELETED_FILE) {
      reader.next();
      const number = reader.next();
      state.tables.delete(number);
      state.dropped.add(number);
    } else if (tag === NEW_FILE_2 || tag === NEW_FILE_4) {
      const [number, table] = reader.table(tag === NEW_FILE_4);
      added.set(number, table);
    } else if (tag >= SAFE_TO_IGNORE) reader.bytes();
    else return false;
  }
  // An edit that moves a table to another level deletes it there and adds it here.
  for (const [number, table] of added) {
    state.tables.set(number, table);
    state.dropped.delete(number);
  }
  return reader.at === edit.length;
}

const PLAIN_NUMBERS: ReadonlySet<number> = new Set([
  LAST_SEQUENCE,
  PREV_LOG_NUMBER,
  MIN_LOG_NUMBER_TO_KEEP,
  COLUMN_FAMILY,
  MAX_COLUMN_FAMILY,
  IN_ATOMIC_GROUP,
]);

class EditReader extends VarintReader {
  readonly #edit: Uint8Array;

  constructor(edit: Uint8Array) {
    super(edit, 0);
    this.#edit = edit;
  }

  bytes(): Uint8Array {
    const length = this.next();
    this.at += length;
    return this.#edit.subarray(this.at - length, this.at);
  }

  table(hasFields: boolean): readonly [number, KnownTable] {
    this.next(); // Its level.
    const number = this.next();
    this.next(); // Its bytes.
    const smallest = userKey(this.bytes());
    const largest = userKey(this.bytes());
    this.next(); // Its smallest sequence.
    const largestSequence = this.next();
    while (hasFields && this.at < this.#edit.length && this.next() !== LAST_FIELD) this.bytes();
    return [number, { smallest, largest, largestSequence }];
  }
}

function userKey(internalKey: Uint8Array): Uint8Array {
  return internalKey.subarray(0, Math.max(0, internalKey.length - INTERNAL_KEY_BYTES));
}
