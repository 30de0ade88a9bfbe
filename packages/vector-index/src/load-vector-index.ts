import { checkedSettings, checkSearchSettings } from "./check-settings.js";
import { GraphVectorIndex } from "./graph-vector-index.js";
import { readSnapshot } from "./read-snapshot.js";
import type { VectorIndex, VectorIndexSettings, VectorSearchSettings } from "./vector-index.js";

/**
 * The index that `snapshot` wrote to `path`, with its watermark in `sequence`. Every byte is verified first. Fails with
 * `dataLoss`, naming the file and the reason, when it is damaged, something else, or was written with other settings;
 * with `notFound` when there is none; with `unavailable` when it cannot be opened.
 */
export async function loadVectorIndex(
  path: string,
  settings: VectorIndexSettings,
  search: VectorSearchSettings,
): Promise<VectorIndex> {
  const checked = checkedSettings(settings);
  checkSearchSettings(search);
  const { native, sequence, written, calibration } = await readSnapshot(path, checked, search.vectorCacheMaxObjects);
  return new GraphVectorIndex(native, checked, search, sequence, { written }, calibration);
}
