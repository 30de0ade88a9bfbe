import { link, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import { diskOf } from "../disk-of.js";
import { RocksConnection } from "../rocks-connection.js";
import { openError } from "../rocks-error.js";

/**
 * Keeps every process from opening the store in `folder`, until it is disposed of. Writes nothing there: RocksDB locks a
 * hard link of the store's LOCK, in `lockFolder`, which is made. A folder without LOCK is open nowhere; it gets one when
 * `makesLock` is true, and stays free otherwise. Fails with `unavailable` when a process has the store open.
 */
export async function holdStore(folder: string, lockFolder: string, makesLock: boolean): Promise<AsyncDisposable> {
  await mkdir(lockFolder, { recursive: true });
  const lock = join(folder, "LOCK");
  if (makesLock) await (await open(lock, "a")).close();
  const isThere = await link(lock, join(lockFolder, "LOCK")).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw new ShoalError("unavailable", `store ${folder} cannot be locked by a hard link: ${error.message}`, {
        cause: error,
      });
    },
  );
  if (!isThere) return { [Symbol.asyncDispose]: async () => undefined };
  const connection = await RocksConnection.open(lockFolder, await diskOf(lockFolder), OPTIONS).catch(
    (thrown: unknown) => {
      throw openError(folder, ShoalError.from(thrown));
    },
  );
  return { [Symbol.asyncDispose]: () => connection.close() };
}

const OPTIONS = {
  createIfMissing: true,
  compression: false,
  cacheSize: 1 << 20,
  writeBufferSize: 1 << 20,
  blockSize: 4096,
  maxOpenFiles: 16,
};
