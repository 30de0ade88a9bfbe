import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeDurableFile } from "./durable-files.js";
import { openRecord, sealRecord } from "./record-envelope.js";
import type { RocksConnection } from "./rocks-connection.js";
import { listFiles } from "./rocks-files.js";

// RocksDB 6.17 says nowhere which log it wrote last (`track_and_verify_wals_in_manifest` is off and the addon cannot switch
// it on): when a log is not there, it silently opens without what was in it. So we note the logs ourselves.
// RocksDB removes a log only when the MANIFEST, which is synced first, names a higher number as the oldest log it needs
// (`VersionEdit::SetLogNumber`). A log that is noted, has that number or a higher one, and is not there, was lost.
// A MANIFEST that lost its end looks like one whose last record was never finished, and RocksDB removes the tables that it does
// not list any more. So its length is noted as well: it only grows, until another one takes its place.

/** RocksDB leaves files alone whose names it does not know. */
export const LOG_NOTE = "logs.note";
const NOTE_KEY = Buffer.from(LOG_NOTE);

interface Note {
  /** Numbers of the logs that there were. */
  readonly logs: readonly number[];
  /** The MANIFEST in use, and so many bytes of it were on stable storage. */
  readonly manifest?: { readonly name: string; readonly bytes: number };
}

/** Notes the logs of a store, and how long its MANIFEST is, durably, before the first write into a new one is acknowledged. */
export class LogNote {
  readonly #folder: string;
  #connection: RocksConnection | undefined;
  #version = "";

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * To be called after each synced write and before the next one. Undefined when nothing is to be done. RocksDB begins a new
   * log only together with a new memtable, which makes a new "super version".
   */
  keep(connection: RocksConnection): Promise<void> | undefined {
    const version = connection.property("rocksdb.current-super-version-number");
    if (connection === this.#connection && version === this.#version) return undefined;
    return this.#write(connection, version);
  }

  async #write(connection: RocksConnection, version: string): Promise<void> {
    const { logs } = await listFiles(this.#folder);
    const manifest = await syncedManifest(this.#folder);
    const note: Note = { logs: logs.map(logNumber), ...(manifest !== undefined && { manifest }) };
    await writeDurableFile(join(this.#folder, LOG_NOTE), sealRecord(NOTE_KEY, Buffer.from(JSON.stringify(note))));
    this.#connection = connection;
    this.#version = version;
  }
}

/**
 * Names of the logs that a store needs, from number `oldest` on, and that are not among `logs`, those that hold something: a log
 * is noted when a write into it was synced. A store without a note, of an older release
 * or one that was never written to, misses none; neither does one whose note is damaged, as that is all that is lost then.
 */
export async function missingLogs(folder: string, logs: readonly string[], oldest: number): Promise<readonly string[]> {
  const there = new Set(logs.map(logNumber));
  const missing = ((await readNote(folder))?.logs ?? []).filter((log) => log >= oldest && !there.has(log));
  return missing.map((log) => `${String(log).padStart(6, "0")}.log`);
}

/** How long the MANIFEST of that name was at least, as far as is known. */
export async function notedManifestBytes(folder: string, name: string): Promise<number> {
  const manifest = (await readNote(folder))?.manifest;
  return manifest?.name === name ? manifest.bytes : 0;
}

/** The MANIFEST in use, after what it holds is on stable storage; undefined when another one takes its place just now. */
async function syncedManifest(folder: string): Promise<Note["manifest"]> {
  try {
    const name = (await readFile(join(folder, "CURRENT"), "latin1")).trimEnd();
    await using file = await open(join(folder, name), "r");
    const bytes = (await file.stat()).size;
    await file.datasync();
    return { name, bytes };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function readNote(folder: string): Promise<Note | undefined> {
  const sealed = await readFile(join(folder, LOG_NOTE)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (sealed === undefined) return undefined;
  const note = openRecord(NOTE_KEY, sealed);
  return note instanceof Error ? undefined : (JSON.parse(Buffer.from(note).toString()) as Note);
}

function logNumber(name: string): number {
  return Number.parseInt(name, 10);
}
