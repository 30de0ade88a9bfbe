import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** Every file below a folder, as full paths in a stable order. */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** The folders of all key-value stores below a data folder: those with a file `CURRENT`. */
export async function storeFolders(dataPath: string): Promise<readonly string[]> {
  return (await filesBelow(dataPath))
    .filter((path) => path.endsWith("/CURRENT"))
    .map((path) => path.slice(0, -"/CURRENT".length));
}

/** The manifests of graph snapshots below a data folder; files beside them begin with their names. */
export async function graphFiles(dataPath: string): Promise<readonly string[]> {
  return (await filesBelow(dataPath)).filter((path) => path.endsWith("vectors.snapshot"));
}
