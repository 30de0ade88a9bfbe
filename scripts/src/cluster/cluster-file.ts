import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A process of the cluster as tools find it. */
export interface ClusterProcess {
  readonly name: string;
  readonly role: "gateway" | "storage-node" | "coordinator";
  readonly pid: number;
  /** An origin: where a gateway serves; of the others their internal port, with `/ready` and `/metrics`. */
  readonly address: string;
}

/** Writes `cluster.json` into the folder; readers see the old one or the new one. */
export function writeClusterFile(folder: string, processes: readonly ClusterProcess[]): void {
  const file = join(folder, "cluster.json");
  writeFileSync(`${file}.new`, `${JSON.stringify({ processes }, undefined, 2)}\n`);
  renameSync(`${file}.new`, file);
}

/** What the last one wrote; nothing when there is none that can be read. */
export function readClusterFile(folder: string): readonly ClusterProcess[] {
  try {
    const { processes } = JSON.parse(readFileSync(join(folder, "cluster.json"), "utf8"));
    return Array.isArray(processes) ? processes : [];
  } catch {
    return [];
  }
}
