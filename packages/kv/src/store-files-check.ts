import { readdir, readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import { checkLog } from "./log-file-check.js";
import { type DamagedRange, readTable } from "./table-file.js";

/**
 * Checks the logs and the MANIFEST of a store that is not open. Throws `dataLoss`, naming folder and file: RocksDB would
 * open it and miss acknowledged writes.
 */
export async function checkLogs(folder: string): Promise<void> {
  const names = await readdir(folder);
  const isStore = names.some((name) => name.endsWith(".sst") || name.startsWith("MANIFEST-"));
  if (isStore && !names.includes("CURRENT")) {
    throw new ShoalError("dataLoss", `store ${folder} cannot be opened: its file CURRENT is missing`);
  }
  if (!isStore) return;
  const current = (await readFile(join(folder, "CURRENT"), "latin1")).trimEnd();
  for (const name of names) {
    if (!(/^\d+\.log$/.test(name) || name === current)) continue;
    const { wholeBytes, isDamaged } = checkLog(await readFile(join(folder, name)));
    if (!isDamaged) continue;
    throw new ShoalError("dataLoss", `store ${folder} cannot be opened: ${name} is damaged at byte ${wholeBytes}`);
  }
}

/** A log and how long it is up to its last whole record. */
export interface LogEnd {
  readonly file: string;
  readonly wholeBytes: number;
}

/** The ends of the logs, before RocksDB closes them. */
export async function findLogEnds(folder: string): Promise<LogEnd[]> {
  const logs = (await readdir(folder)).filter((name) => /^\d+\.log$/.test(name));
  const ends: LogEnd[] = [];
  for (const name of logs) {
    const file = join(folder, name);
    ends.push({ file, wholeBytes: checkLog(await readFile(file)).wholeBytes });
  }
  return ends;
}

/**
 * Takes back what RocksDB appended when it closed a log whose last write had failed: the rest of its buffer, behind a gap.
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
 * Reads and checks all tables. Throws `dataLoss`, naming folder and file, for a table that RocksDB would not survive. The
 * store may be open: tables that RocksDB merges meanwhile are read in their new form.
 */
export async function readTables(folder: string, withKeys: boolean): Promise<TablesContent> {
  for (;;) {
    try {
      const tables: TablesContent[] = [];
      for (const name of await readdir(folder)) {
        if (!/^\d+\.sst$/.test(name)) continue;
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
