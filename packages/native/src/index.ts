export { XXH3_BYTES, Xxh3Hasher, xxh3Matches, xxh3Write } from "./xxh3.js";
