import { DocumentSet } from "../document-set.js";
import type { ColumnValue } from "../records/column-chunk.js";
import type { ColumnChange, ColumnLike } from "./column-like.js";

/** Coordinates in memory: in a column's records each document has two values, latitude and longitude. */
export class CachedPlace implements ColumnLike {
  readonly present = new DocumentSet();
  #latitudes = new Float64Array(0);
  #longitudes = new Float64Array(0);

  get bytes(): number {
    return 1000 + this.#latitudes.byteLength * 2 + this.present.words.byteLength;
  }

  get documentLimit(): number {
    return this.#latitudes.length;
  }

  latitude(document: number): number {
    return this.#latitudes[document] ?? 0;
  }

  longitude(document: number): number {
    return this.#longitudes[document] ?? 0;
  }

  valueOf(document: number): ColumnValue | undefined {
    if (!this.present.has(document)) return undefined;
    return { values: [this.latitude(document), this.longitude(document)], rests: undefined };
  }

  set({ document, value }: ColumnChange): void {
    if (value === undefined || typeof value === "number") {
      this.present.delete(document);
      return;
    }
    if (document >= this.#latitudes.length) this.#enlarge(document);
    this.present.add(document);
    this.#latitudes[document] = value.values[0] ?? 0;
    this.#longitudes[document] = value.values[1] ?? 0;
  }

  #enlarge(document: number): void {
    const length = Math.max(document + 1, Math.ceil(this.#latitudes.length * 1.5), 256);
    const latitudes = new Float64Array(length);
    const longitudes = new Float64Array(length);
    latitudes.set(this.#latitudes);
    longitudes.set(this.#longitudes);
    this.#latitudes = latitudes;
    this.#longitudes = longitudes;
  }
}
