import { readdir } from "node:fs/promises";

/** Names in the folder of a store, and those of RocksDB by what they are. All are empty where there is no folder. */
export interface RocksFiles {
  readonly names: readonly string[];
  readonly logs: readonly string[];
  readonly tables: readonly string[];
  readonly manifests: readonly string[];
}

export async function listFiles(folder: string): Promise<RocksFiles> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return {
    names,
    logs: names.filter((name) => /^\d+\.log$/.test(name)),
    tables: names.filter((name) => /^\d+\.sst$/.test(name)),
    manifests: names.filter((name) => name.startsWith("MANIFEST-")),
  };
}
