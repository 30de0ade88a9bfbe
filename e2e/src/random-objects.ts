/** A uuid out of `random`. */
export function randomId(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A vector whose members are roughly normally distributed, rounded to float32. */
export function randomVector(random: () => number, dimensions: number): number[] {
  return Array.from({ length: dimensions }, () => Math.fround(random() + random() + random() - 1.5));
}

/** The seed of what runs in `npm test`, the same every time; the variable SEED sets another one. */
export function testSeed(): number {
  return process.env.SEED === undefined ? 1 : Number(process.env.SEED);
}

/** A new seed for every run; the variable SEED repeats one. Whoever uses it prints it. */
export function newSeed(): number {
  return process.env.SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(process.env.SEED);
}

/** Cosine distance in float64. */
export function cosineDistance(a: readonly number[], b: readonly number[]): number {
  let dot = 0;
  let squaredA = 0;
  let squaredB = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] ?? 0;
    const y = b[i] ?? 0;
    dot += x * y;
    squaredA += x * x;
    squaredB += y * y;
  }
  return 1 - dot / Math.sqrt(squaredA * squaredB);
}
