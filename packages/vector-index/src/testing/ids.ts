/** Documents `first`, `first + 1`, …, `count` of them. */
export function ids(first: number, count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) => first + i);
}
