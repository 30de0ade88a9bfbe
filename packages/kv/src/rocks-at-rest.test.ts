import { expect, it } from "vitest";
import { isAtRest } from "./rocks-at-rest.js";
import type { RocksConnection } from "./rocks-connection.js";

const AT_REST = {
  "rocksdb.num-immutable-mem-table": "0",
  "rocksdb.is-file-deletions-enabled": "1",
  "rocksdb.background-errors": "0",
  "rocksdb.is-write-stopped": "0",
};
const TORN = "IO error: No space left on deviceWhile appending to file: /data/000004.log: No space left on device";
const NO_LOG =
  "IO error: No space left on deviceWhile open a file for appending: /data/000007.log: No space left on device";
const QUOTA = "IO error: While appending to file: /data/000004.log: Disk quota exceeded";
const SYNC = "IO error: While fdatasync: /data/000004.log: Input/output error";

/** A connection with such properties, which takes writes or not, and counts those that are tried. */
function connectionWith(properties: Partial<typeof AT_REST>, takesWrites: boolean) {
  const tried = { writes: 0 };
  const all: Record<string, string> = { ...AT_REST, ...properties };
  const write = async () => {
    tried.writes += 1;
    if (!takesWrites) throw new Error("IO error: No space left on device");
  };
  const connection = { property: (name: string) => all[name] ?? "", startBatch: () => ({ del: () => {}, write }) };
  return { connection: connection as unknown as RocksConnection, tried };
}

const FLUSH_DUE = { "rocksdb.num-immutable-mem-table": "1" };
const MANIFEST_DUE = { "rocksdb.is-file-deletions-enabled": "0" };
const FAILED = { "rocksdb.background-errors": "3" };

it.each<[string, Partial<typeof AT_REST>, string | undefined, boolean, boolean, number]>([
  ["nothing has failed", {}, undefined, true, true, 0],
  ["a flush goes on", FLUSH_DUE, undefined, true, false, 0],
  ["a flush has failed and is tried again", { ...FLUSH_DUE, ...FAILED }, undefined, false, false, 1],
  ["a flush has failed, and RocksDB has given up", { ...FLUSH_DUE, ...FAILED }, undefined, true, true, 1],
  ["a merge has failed", FAILED, undefined, true, true, 1],
  [
    "writes would wait for a flush",
    { ...FLUSH_DUE, ...FAILED, "rocksdb.is-write-stopped": "1" },
    undefined,
    true,
    false,
    0,
  ],
  [
    "a merge has failed and writes wait for one",
    { ...FAILED, "rocksdb.is-write-stopped": "1" },
    undefined,
    true,
    true,
    0,
  ],
  ["there is no room for a new log, and writes wait", { "rocksdb.is-write-stopped": "1" }, NO_LOG, true, false, 0],
  ["the log is torn", FAILED, TORN, true, true, 0],
  ["the log is torn and a flush is due", { ...FLUSH_DUE, ...FAILED }, TORN, true, false, 0],
  ["the log is torn and the MANIFEST is not written", { ...MANIFEST_DUE, ...FAILED }, TORN, true, false, 0],
  ["there was no room for a new log", {}, NO_LOG, false, false, 1],
  ["there was none, and is now", {}, NO_LOG, true, true, 1],
  ["the quota is used up, which is not tried again", { ...FLUSH_DUE, ...FAILED }, QUOTA, false, true, 0],
  ["a sync has failed", FAILED, SYNC, false, true, 0],
])("when %s", async (_, properties, failedWrite, takesWrites, expected, writes) => {
  const { connection, tried } = connectionWith(properties, takesWrites);
  const failed = failedWrite === undefined ? undefined : new Error(failedWrite);
  expect(await isAtRest(connection, failed)).toBe(expected);
  expect(tried.writes).toBe(writes);
});
