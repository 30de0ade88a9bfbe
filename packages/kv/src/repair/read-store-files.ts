import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import { checkLog, readLogRecords } from "../log-file.js";
import { findManifest, type Manifest } from "../manifest-file.js";
import { checkLogs, DamagedFile } from "../store-files-check.js";
import type { FileDamage, FoundVersion } from "./found-version.js";
import { readTableVersions } from "./table-versions.js";
import { batchVersions, versionsInDamagedBatch } from "./write-batch.js";

export interface StoreFilesReading {
  readonly onDamage: (damage: FileDamage) => void;
  /** Bytes of files that have been read, of all that there are. */
  readonly onProgress?: (bytes: number, allBytes: number) => void;
}

/**
 * Reads what the files of a store hold, in no order and with all versions of each record, without RocksDB, and writes nothing. Nobody
 * may write to the folder meanwhile. Tables and logs that the MANIFEST has given up are left out: of what was deleted
 * they have the values, and the deletions may be gone.
 */
export async function* readStoreFiles(
  folder: string,
  { onDamage, onProgress = () => {} }: StoreFilesReading,
): AsyncGenerator<readonly FoundVersion[]> {
  const names = (await readdir(folder)).sort();
  const { manifest, damage } = names.some(isStoreFile) ? await findManifest(folder) : NOTHING;
  for (const one of damage) onDamage({ ...one, ...NOTHING_LOST });
  if (damage.length === 0) await refusedByOpening(folder, onDamage);
  const tables = names.filter((name) => /^\d+\.sst$/.test(name) && belongs(name, manifest));
  const logs = names.filter((name) => /^\d+\.log$/.test(name) && fileNumber(name) >= (manifest?.logNumber ?? 0));
  reportMissing(tables, manifest, onDamage);
  let bytes = 0;
  const sizes = await Promise.all([...tables, ...logs].map(async (name) => (await stat(join(folder, name))).size));
  const allBytes = sizes.reduce((sum, size) => sum + size, 0);
  for (const [index, name] of [...tables, ...logs].entries()) {
    const path = join(folder, name);
    if (name.endsWith(".log")) yield* readLogVersions(path, name, onDamage);
    else yield* readTableVersions(path, manifest?.tables.get(fileNumber(name)), onDamage);
    bytes += sizes[index] ?? 0;
    onProgress(bytes, allBytes);
  }
}

const NOTHING = { manifest: undefined, damage: [] };
const NOTHING_LOST = { offset: undefined, lower: new Uint8Array(0), upper: new Uint8Array(0), sequenceMax: -1 };

function isStoreFile(name: string): boolean {
  return name.endsWith(".sst") || name.endsWith(".log") || name.startsWith("MANIFEST-") || name === "CURRENT";
}

function fileNumber(name: string): number {
  return Number.parseInt(name, 10);
}

/**
 * RocksDB lists the tables of a store at the begin of each MANIFEST, those last that the opening has made of the logs, and then
 * removes the others. So an older table that is not listed is none of the store's, unless the list has been cut off; a newer one
 * may have been cut off in any case.
 */
function belongs(name: string, manifest: Manifest | undefined): boolean {
  const number = fileNumber(name);
  if (manifest === undefined || manifest.tables.has(number)) return true;
  return !manifest.dropped.has(number) && (number > manifest.number || mayBeCutOff(manifest));
}

function mayBeCutOff({ isComplete, hasOpening }: Manifest): boolean {
  return !isComplete || !hasOpening;
}

function reportMissing(
  tables: readonly string[],
  manifest: Manifest | undefined,
  onDamage: StoreFilesReading["onDamage"],
): void {
  const there = new Set(tables.map(fileNumber));
  for (const [number, { smallest: lower, largest: upper, largestSequence: sequenceMax }] of manifest?.tables ?? []) {
    if (there.has(number)) continue;
    const file = `${String(number).padStart(6, "0")}.sst`;
    onDamage({ file, offset: undefined, reason: "is missing", lower, upper, sequenceMax });
  }
  if (manifest === undefined || !mayBeCutOff(manifest)) return;
  // A crash leaves a MANIFEST that is cut off, or newer tables that are not listed yet: either alone is no damage.
  const unlisted = [...there].filter(
    (number) => !manifest.tables.has(number) && (!manifest.isComplete || number < manifest.number),
  );
  if (unlisted.length > 0) onDamage({ file: manifest.name, reason: "is cut off", ...NOTHING_LOST });
}

/** What keeps the store from opening although its tables and MANIFEST can be read. */
async function refusedByOpening(folder: string, onDamage: StoreFilesReading["onDamage"]): Promise<void> {
  await checkLogs(folder).catch((thrown: unknown) => {
    const error = ShoalError.from(thrown);
    if (error.code !== "dataLoss") throw error;
    // Damaged logs are reported when they are read, with what they may have held.
    if (error instanceof DamagedFile && error.file.endsWith(".log")) return;
    onDamage({ file: "store", reason: `is not opened: ${error.message}`, ...ANYTHING_LOST });
  });
}

const ANYTHING_LOST = {
  offset: undefined,
  lower: undefined,
  upper: undefined,
  sequenceMax: Number.POSITIVE_INFINITY,
};

async function* readLogVersions(
  path: string,
  file: string,
  onDamage: StoreFilesReading["onDamage"],
): AsyncGenerator<readonly FoundVersion[]> {
  const log = await readFile(path);
  const { wholeBytes, isDamaged } = checkLog(log);
  let sequence = 0;
  for (const { offset, payload, isWhole } of readLogRecords(isDamaged ? log : log.subarray(0, wholeBytes))) {
    const whole = isWhole ? batchVersions(payload) : undefined;
    const { versions, nextSequence } = whole ?? versionsInDamagedBatch(payload, sequence);
    if (whole === undefined) {
      const reason = `has a damaged record, of which ${versions.length} values can be read`;
      onDamage({ file, reason, ...ANYTHING_LOST, offset });
    }
    sequence = nextSequence;
    if (versions.length > 0) yield versions;
  }
}
