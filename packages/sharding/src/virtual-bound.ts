import { type Hash64, murmur3Halves } from "./murmur3.js";

/** Bytes of the name that is hashed; names nearly always have the same length. */
let bytes = new Uint8Array(12);

/** The bound of a virtual shard on the hash ring: murmur3 of its ASCII name (reference-rest 5.2), as two halves. */
export function virtualBound(name: string): Hash64 {
  if (bytes.length !== name.length) bytes = new Uint8Array(name.length);
  for (let i = 0; i < name.length; i++) bytes[i] = name.charCodeAt(i);
  return murmur3Halves(bytes);
}
