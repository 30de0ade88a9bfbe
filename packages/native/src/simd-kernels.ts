import { addon } from "./addon.js";

interface SimdAddon {
  simdKernelNames(): string[];
  simdDots(kernel: number, first: Float32Array, second: Float32Array, out: Float64Array): void;
}

const native = addon as SimdAddon;

/** The kernels that this machine can run; the first is the one in use, the last is the portable one. */
export const SIMD_KERNELS: readonly string[] = native.simdKernelNames();

/** One kernel's dot products of two vectors: of their bfloat16 halves, singly and as one of many, and of all their bits. */
export function simdDots(
  kernel: number,
  first: Float32Array,
  second: Float32Array,
): { readonly high: number; readonly many: number; readonly exact: number } {
  const out = new Float64Array(3);
  native.simdDots(kernel, first, second, out);
  return { high: out[0] ?? 0, many: out[1] ?? 0, exact: out[2] ?? 0 };
}
