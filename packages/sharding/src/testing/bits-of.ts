import { murmur3Halves } from "../murmur3.js";

/** The hash as one unsigned integer. */
export function bitsOf(bytes: Uint8Array): bigint {
  const { high, low } = murmur3Halves(bytes);
  return (BigInt(high) << 32n) | BigInt(low);
}
