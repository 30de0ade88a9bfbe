import { rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "./durable-files.js";

/** A store that is to take the place of the one beside it. */
function replacementOf(folder: string): string {
  return `${folder}.repaired`;
}

/** Whether the store in `folder` has a replacement that has not quite taken its place. */
export async function isReplaced(folder: string): Promise<boolean> {
  return stat(replacementOf(folder)).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}

/**
 * Puts the store in `made` in the place of `folder`, which is kept as `<folder>.damaged-<timestamp>`. There is no
 * rename for two folders: from the first one on the new store counts, and the next open of `folder` finishes this.
 */
export async function replaceStore(folder: string, made: string, nowMs: number): Promise<string | undefined> {
  await syncFolder(made);
  await rename(made, replacementOf(folder));
  await syncFolder(dirname(folder));
  return finishReplacing(folder, nowMs);
}

/** Finishes a replacement that was interrupted; the kept store's new name, if this call has renamed it. */
export async function finishReplacing(folder: string, nowMs: number): Promise<string | undefined> {
  const replacement = replacementOf(folder);
  if (!(await isReplaced(folder))) return undefined;
  const timestamp = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const kept = `${folder}.damaged-${timestamp}`;
  // When another process does the same, what is to be renamed is gone.
  const wasThere = await renamed(folder, kept);
  await renamed(replacement, folder);
  await syncFolder(dirname(folder));
  return wasThere ? kept : undefined;
}

async function renamed(from: string, to: string): Promise<boolean> {
  return rename(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}
