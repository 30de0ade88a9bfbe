import { mkdir, open, rename } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder and the parents it lacks. Each of them, and the folder itself when it was there already (another call may
 * have made it a moment ago), is entered durably in its parent when this resolves.
 */
export async function makeDurableFolder(path: string): Promise<void> {
  const folder = resolve(path);
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) {
    // A parent that we may not read is not one in which we made the folder.
    await syncFolder(dirname(folder)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EACCES" && error.code !== "EPERM") throw error;
    });
    return;
  }
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/**
 * Puts `bytes` in the place of a file, or makes it: after a crash the old content is there or the new one, whole. The new
 * one is durable when this resolves. One call for one path at a time; `<path>.new` is its own. `mode`: who may do what with it,
 * from the first byte on; the process's default when absent.
 */
export async function writeDurableFile(
  path: string,
  bytes: string | Uint8Array | readonly Uint8Array[],
  mode?: number,
): Promise<void> {
  const temporary = `${path}.new`;
  const handle = await open(temporary, "w", mode);
  try {
    // It may have been left by a write that was interrupted.
    if (mode !== undefined) await handle.chmod(mode);
    const parts = typeof bytes === "string" || bytes instanceof Uint8Array ? [bytes] : bytes;
    for (const part of parts) await handle.writeFile(part);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

/** What was made, renamed or removed in the folder until now stays so after a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  await handle.sync().finally(() => handle.close());
}
