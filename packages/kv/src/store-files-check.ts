import { readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import { checkLog } from "./log-file.js";
import { LOG_NOTE, missingLogs, notedManifestBytes } from "./log-note.js";
import { findManifest, parseManifest } from "./manifest-file.js";
import { listFiles } from "./rocks-files.js";
import { type DamagedRange, readTable } from "./table-file.js";

/** RocksDB writes it first when it makes a store, then CURRENT, then all else: `DBImpl::NewDB`. */
const FIRST_MANIFEST = "MANIFEST-000001";

/**
 * Looks whether there is a store in the folder. Throws `dataLoss`, naming the folder, when something of one is there, but
 * not its file CURRENT: RocksDB would make a new one in its place. What a creation leaves behind that was interrupted is
 * no store yet, and can be made again: nothing was ever written to it.
 */
export async function findStore(folder: string): Promise<boolean> {
  const { names, logs, tables, manifests } = await listFiles(folder);
  if (names.includes("CURRENT")) return true;
  const isCutShort = manifests.every((name) => name === FIRST_MANIFEST);
  if (isCutShort && logs.length === 0 && tables.length === 0 && !names.includes(LOG_NOTE)) return false;
  throw new ShoalError("dataLoss", `store ${folder} cannot be opened: its file CURRENT is missing`);
}

/** Whether a store was made in the folder, be it whole or damaged. */
export async function isStoreFolder(folder: string): Promise<boolean> {
  return findStore(folder).catch((error: unknown) => {
    if (error instanceof ShoalError && error.code === "dataLoss") return true;
    throw error;
  });
}

/**
 * Checks the logs and the MANIFEST of a store that is not open. Throws `dataLoss`, naming folder and file: RocksDB would
 * open it and miss acknowledged writes.
 */
export async function checkLogs(folder: string): Promise<void> {
  const { logs, manifests } = await listFiles(folder);
  const current = (await readFile(join(folder, "CURRENT"), "latin1")).trimEnd();
  // Without it RocksDB itself refuses to open.
  if (!manifests.includes(current)) return;
  const manifest = await wholeLog(folder, current);
  const notedBytes = await notedManifestBytes(folder, current);
  if (manifest.bytes.length < notedBytes) {
    throw new ShoalError(
      "dataLoss",
      `store ${folder} cannot be opened: ${current} has ${manifest.bytes.length} bytes, it had ${notedBytes}, and tables are lost with its end`,
    );
  }
  const filled: string[] = [];
  for (const name of logs) if ((await wholeLog(folder, name)).wholeBytes > 0) filled.push(name);
  const oldest = parseManifest(current, manifest.bytes, manifest.wholeBytes)?.logNumber ?? 0;
  const [missing] = await missingLogs(folder, filled, oldest);
  if (missing === undefined) return;
  throw new ShoalError(
    "dataLoss",
    `store ${folder} cannot be opened: ${missing} is ${logs.includes(missing) ? "empty" : "missing"}, and the last writes are lost with it`,
  );
}

async function wholeLog(folder: string, name: string): Promise<{ bytes: Uint8Array; wholeBytes: number }> {
  const bytes = await readFile(join(folder, name));
  const { wholeBytes, isDamaged } = checkLog(bytes);
  if (!isDamaged) return { bytes, wholeBytes };
  throw new DamagedFile(folder, name, wholeBytes);
}

/** A log or MANIFEST with a record that is not whole. */
export class DamagedFile extends ShoalError {
  constructor(
    folder: string,
    readonly file: string,
    wholeBytes: number,
  ) {
    super("dataLoss", `store ${folder} cannot be opened: ${file} is damaged at byte ${wholeBytes}`);
  }
}

/** A log and how long it is up to its last whole record. */
export interface LogEnd {
  readonly file: string;
  readonly wholeBytes: number;
}

/** The ends of the logs, before RocksDB closes them. */
export async function findLogEnds(folder: string): Promise<LogEnd[]> {
  const { logs } = await listFiles(folder);
  const ends: LogEnd[] = [];
  for (const name of logs) {
    const file = join(folder, name);
    ends.push({ file, wholeBytes: checkLog(await readFile(file)).wholeBytes });
  }
  return ends;
}

/**
 * Removes what RocksDB appended when it closed a log whose last write had failed: the rest of its buffer, behind a gap.
 */
export async function cutLog(end: LogEnd): Promise<void> {
  const size = await stat(end.file).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > end.wholeBytes) await truncate(end.file, end.wholeBytes);
}

/** What the tables of a store hold; `keys` only when they were asked for. */
export interface TablesContent {
  readonly damaged: readonly DamagedRange[];
  readonly keys: readonly Uint8Array[];
}

/**
 * Reads and checks the tables that belong to the store: one that a kill has left unfinished, or that is being written, is not in
 * the MANIFEST yet, and what it should hold is still elsewhere. Throws `dataLoss`, naming folder and file, for a table that RocksDB would not survive. The
 * store may be open: tables that RocksDB merges meanwhile are read in their new form.
 */
export async function readTables(folder: string, withKeys: boolean): Promise<TablesContent> {
  for (;;) {
    try {
      const tables: TablesContent[] = [];
      const { manifest } = await findManifest(folder);
      for (const name of (await listFiles(folder)).tables) {
        if (manifest !== undefined && !manifest.tables.has(Number.parseInt(name, 10))) continue;
        const table = await readTable(join(folder, name), withKeys);
        if (table.deadly !== undefined) {
          throw new ShoalError(
            "dataLoss",
            `store ${folder} cannot be opened: the ${table.deadly} of ${name} is damaged`,
          );
        }
        tables.push(table);
      }
      return { damaged: tables.flatMap((one) => one.damaged), keys: tables.flatMap((one) => one.keys) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}
