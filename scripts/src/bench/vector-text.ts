const DECIMALS = 1e7;

/**
 * The rows of `vectors`, each as a JSON list: normalised to length one and written with seven decimals, as exact as
 * float32 is near one.
 */
export function vectorTexts(vectors: Float32Array, dimensions: number): (index: number) => string {
  const numbers = new Array<number>(dimensions);
  return (index) => {
    const from = index * dimensions;
    let squares = 0;
    for (let at = 0; at < dimensions; at++) squares += (vectors[from + at] as number) ** 2;
    const scale = squares === 0 ? 0 : DECIMALS / Math.sqrt(squares);
    for (let at = 0; at < dimensions; at++) numbers[at] = Math.round((vectors[from + at] as number) * scale) / DECIMALS;
    return `[${numbers.join()}]`;
  };
}
