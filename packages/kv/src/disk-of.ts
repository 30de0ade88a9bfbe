import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** The device number of the disk that a folder is on, or that it would be on if it were made. */
export async function diskOf(folder: string): Promise<number> {
  for (let path = resolve(folder); ; path = dirname(path)) {
    try {
      return (await stat(path)).dev;
    } catch (error) {
      // Its user says better what is wrong with it.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || path === dirname(path)) return 0;
    }
  }
}

/** Bytes of the disk that a folder is on which this process may still use. */
export async function freeBytes(folder: string): Promise<number> {
  const stats = await statfs(folder);
  return stats.bavail * stats.bsize;
}
