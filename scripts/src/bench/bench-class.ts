import { createHash } from "node:crypto";
import {
  FASHION_DIMENSIONS,
  FASHION_IMAGES,
  FASHION_TRAIN_IMAGES,
  fashionMnist,
  GLOVE_DIMENSIONS,
  GLOVE_WORDS,
  gloveWords,
} from "@shoal/data-sets";
import { vectorTexts } from "./vector-text.js";

/** The sets that are measured: words of 100 dimensions, images of 784; the words again with the property `region`. */
export type SetName = "glove" | "fashion" | "regions";

export interface BenchSet {
  readonly className: string;
  readonly dimensions: number;
  /** How many rows there are in all. */
  readonly rows: number;
  /** How many of them the standard rows load. The others are held out: queries and new objects come from there. */
  readonly loaded: number;
}

export const BENCH_SETS: Readonly<Record<SetName, BenchSet>> = {
  glove: { className: "Word", dimensions: GLOVE_DIMENSIONS, rows: GLOVE_WORDS, loaded: 100_000 },
  fashion: { className: "Garment", dimensions: FASHION_DIMENSIONS, rows: FASHION_IMAGES, loaded: FASHION_TRAIN_IMAGES },
  regions: { className: "Place", dimensions: GLOVE_DIMENSIONS, rows: GLOVE_WORDS, loaded: 100_000 },
};

/** The class as it is created: everything else is left to the server's defaults, but the recall that H2 demands of images. */
export function classDefinition(set: SetName): object {
  return {
    class: BENCH_SETS[set].className,
    vectorizer: "none",
    ...(set === "fashion" ? { vectorIndexConfig: { targetRecall: 0.99 } } : {}),
    properties: [
      { name: "text", dataType: ["text"] },
      { name: "category", dataType: ["string"] },
      { name: "rank", dataType: ["int"] },
      { name: "price", dataType: ["int"] },
      ...(set === "regions" ? [{ name: "region", dataType: ["int"] }] : []),
    ],
  };
}

export interface BenchRows {
  /** The word; for an image its class in words and its number. */
  readonly texts: readonly string[];
  /** As in the set, not normalised. */
  readonly vectors: Float32Array;
}

const GARMENTS = ["t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"];

export async function benchRows(set: SetName, from: number, count: number): Promise<BenchRows> {
  if (set !== "fashion") {
    const { words, vectors } = await gloveWords({ from, count });
    return { texts: words, vectors };
  }
  const { labels, vectors } = await fashionMnist({ from, count });
  return { texts: [...labels].map((label, index) => `${GARMENTS[label]} ${from + index}`), vectors };
}

/** The id of a row: spread like any uuid, so that neighbours in the set are none on disk. */
export function rowId(set: SetName, row: number): string {
  const digest = createHash("md5").update(`${set} ${row}`).digest("hex");
  const variant = "89ab"[Number.parseInt(digest.charAt(16), 16) & 3];
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `4${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20),
  ].join("-");
}

/** Ten values, one tenth of the rows each, without pattern. */
export function rowCategory(row: number): string {
  return `category${scatter(row) % 10}`;
}

/** 0 to 999, each equally often, without pattern. */
export function rowPrice(row: number): number {
  return Math.floor(scatter(row) / 10) % 1000;
}

/** The finalizer of murmur3: nearby rows get unrelated numbers. */
function scatter(row: number): number {
  let mixed = row >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** The row whose direction the regions are counted from: the word "music" or one as common. */
const ANCHOR_ROW = 400;
export const REGIONS = 1000;

/**
 * By row, how near its vector is to one fixed direction: 0 to 999, each equally often, 999 nearest. A filter on it keeps
 * rows that lie together. `rows` are the first ones of the set.
 */
export function rowRegions({ vectors }: BenchRows, dimensions: number): Uint16Array {
  const count = vectors.length / dimensions;
  const anchor = vectors.subarray(ANCHOR_ROW * dimensions, (ANCHOR_ROW + 1) * dimensions);
  const nearness = Float64Array.from({ length: count }, (_, row) => {
    let product = 0;
    let squares = 0;
    for (let at = 0; at < dimensions; at++) {
      const value = vectors[row * dimensions + at] as number;
      product += value * (anchor[at] as number);
      squares += value * value;
    }
    return squares === 0 ? 0 : product / Math.sqrt(squares);
  });
  const order = Uint32Array.from({ length: count }, (_, row) => row);
  order.sort((a, b) => (nearness[a] as number) - (nearness[b] as number));
  const regions = new Uint16Array(count);
  for (const [place, row] of order.entries()) regions[row] = Math.floor((place * REGIONS) / count);
  return regions;
}

/** Writes the JSON of objects of one set, row by row; `first` is the row at which `rows` begin. */
export class ObjectTexts {
  readonly #vector: (index: number) => string;
  readonly #regions: Uint16Array | undefined;

  constructor(
    private readonly set: SetName,
    private readonly rows: BenchRows,
    private readonly first: number,
  ) {
    const { dimensions } = BENCH_SETS[set];
    this.#vector = vectorTexts(rows.vectors, dimensions);
    this.#regions = set === "regions" ? rowRegions(rows, dimensions) : undefined;
  }

  /** The object of row `first + index`: id, all properties, and its vector unless another one is given as JSON. */
  text(index: number, vectorText = this.#vector(index)): string {
    const row = this.first + index;
    const properties = JSON.stringify({
      text: this.rows.texts[index],
      category: rowCategory(row),
      rank: row,
      price: rowPrice(row),
      ...(this.#regions === undefined ? {} : { region: this.#regions[index] }),
    });
    const head = `{"class":"${BENCH_SETS[this.set].className}","id":"${rowId(this.set, row)}"`;
    return `${head},"properties":${properties},"vector":${vectorText}}`;
  }
}
