import { fileURLToPath } from "node:url";
import { ShoalError } from "@shoal/model";

/** Where converted sets live unless told otherwise: `e2e/data-sets/.cache`, ignored by git, safe to delete. */
export const CACHE_FOLDER = fileURLToPath(new URL("../.cache/", import.meta.url));

/**
 * What `read` gives. When the file behind it is missing or damaged it is rebuilt, once, and read again; a second
 * failure is the caller's to see. Two processes may build the same file at once: the last rename wins, both are whole.
 */
export async function readOrBuild<T>(read: () => Promise<T>, build: () => Promise<void>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (!(thrown instanceof ShoalError) || (thrown.code !== "notFound" && thrown.code !== "dataLoss")) throw thrown;
  }
  await build();
  return read();
}
