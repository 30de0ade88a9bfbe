import { addon } from "../addon.js";

interface SimdAddon {
  simdKernelNames(): string[];
  simdDots(kernel: number, first: Float32Array, second: Float32Array, out: Float64Array): void;
}

const native = addon as SimdAddon;

/** The kernels that this machine can run; the first is the one in use, the last is the portable one. */
export const SIMD_KERNELS: readonly string[] = native.simdKernelNames();

/** One kernel's dot products of two vectors. */
export interface SimdDots {
  /** Of their bfloat16 halves, singly and as one of many. */
  readonly high: number;
  readonly many: number;
  /** Of all their bits. */
  readonly exact: number;
  /** Of their 8 bit codes, and the Euclidean lengths of what these leave out of the first and the second vector. */
  readonly codes: number;
  readonly lost: readonly [number, number];
}

export function simdDots(kernel: number, first: Float32Array, second: Float32Array): SimdDots {
  const out = new Float64Array(6);
  native.simdDots(kernel, first, second, out);
  const [high = 0, many = 0, exact = 0, codes = 0, lostOfFirst = 0, lostOfSecond = 0] = out;
  return { high, many, exact, codes, lost: [lostOfFirst, lostOfSecond] };
}
