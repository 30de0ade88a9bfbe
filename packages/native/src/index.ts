export { crc32c } from "./crc32c.js";
export { duplicateDescriptor } from "./duplicate-descriptor.js";
export { type Float32ListRead, readFloat32List } from "./float32-list.js";
export { returnFreeMemory } from "./free-memory.js";
export { hashIds } from "./id-hashes.js";
export {
  BLOCK_BYTES_MIN,
  BLOCK_HASH_OFFSET,
  BLOCK_HEADER_BYTES,
  BLOCK_KIND_OFFSET,
  BLOCK_KINDS,
  BLOCK_LENGTH_OFFSET,
  chainOf,
  DIMENSIONS_MAX,
  type Frozen,
  holdLinks,
  MAX_CONNECTIONS_MAX,
  MAX_CONNECTIONS_MIN,
  NativeVectorIndex,
  NotFinite,
  rowRecordBytes,
} from "./native-vector-index.js";
export { type NearestRows, nearestRows } from "./nearest-rows.js";
export {
  type ChosenRows,
  NOT_FOUND,
  type RecallProbe,
  STAGES,
  type WalkRecord,
} from "./recall-probe.js";
export type { NativeResult } from "./requests.js";
export { EFFORT_KNOTS_MAX, type EffortKnot, effortNumbers, readEffort, type SearchEffort } from "./search-effort.js";
export { XXH3_BYTES, Xxh3Hasher, xxh3Matches, xxh3Write } from "./xxh3.js";
