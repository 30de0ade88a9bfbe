import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "@shoal/kv";
import type { ViewName } from "./shard-events.js";

/** Where a shard's views are kept between runs. */
export type SnapshotPaths = Readonly<Record<ViewName, string>>;

/** The paths in `folder`, which is made when it is missing. */
export async function snapshotPaths(folder: string): Promise<SnapshotPaths> {
  await mkdir(folder, { recursive: true });
  return { ids: join(folder, "ids.snapshot"), vectors: join(folder, "vectors.snapshot") };
}

/** Where the vector index of another copy is put together. */
export function receivedPath({ vectors }: SnapshotPaths): string {
  return join(dirname(vectors), "vectors.received");
}

/** Takes snapshots away, durably, that must not be believed, by this start or by the next. */
export async function removeSnapshots(paths: SnapshotPaths, views: readonly ViewName[]): Promise<void> {
  for (const view of views) await rm(paths[view], { force: true });
  await syncFolder(dirname(paths.ids));
}
