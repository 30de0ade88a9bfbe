import { access, constants, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DiskBallast, makeDurableFolder } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import type { Logger } from "@shoal/service-runtime";
import { warnOfReaders } from "./warn-of-readers.js";

/**
 * Makes the folder for all data, with its parents, unless it is there. What is made is its owner's alone; one that is there
 * is left as it is, and `logger` told when everybody may read it. Fails with `invalid` when it cannot be made or
 * written to. (One level at a time: node's recursive mkdir never ends on file systems that refuse with ENOENT.)
 */
export async function makeDataFolder(path: string, logger: Logger): Promise<void> {
  try {
    await makeFolder(path, 0o700);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    await warnOfReaders(path, logger);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new ShoalError(
      "invalid",
      `PERSISTENCE_DATA_PATH must be a folder that can be made and written to, got '${path}': ${reason}`,
      { cause: thrown },
    );
  }
}

/** Its parents get the mode that the process gives to folders. */
async function makeFolder(path: string, mode: number): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent, 0o777);
  await mkdir(path, { mode }).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "EEXIST") throw thrown;
  });
  // It is there; this enters it durably in its parent.
  await makeDurableFolder(path);
}

/** False when there is nothing of that name. Fails when it is something else. */
async function isFolder(path: string): Promise<boolean> {
  try {
    const found = await stat(path);
    if (!found.isDirectory()) throw new Error(`'${path}' is no folder`);
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return false;
    throw thrown;
  }
}

const BALLAST_BYTES = 16 * 1024 * 1024;

/** Held back on the disk, so that a process can start while it is full. */
export function ballastOf(dataPath: string): DiskBallast {
  return new DiskBallast(join(dataPath, "BALLAST"), BALLAST_BYTES);
}
