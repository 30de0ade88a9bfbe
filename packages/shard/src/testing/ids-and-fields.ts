import type { ObjectId } from "@shoal/model";

export const ALL_FIELDS = { properties: true, vector: true, extras: true } as const;

/** The `index`th id of a fixed sequence whose order is that of the indexes. */
export function idOf(index: number): ObjectId {
  return `${index.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000` as ObjectId;
}

export function numberOf(id: ObjectId): number {
  return Number.parseInt(id.slice(0, 8), 16);
}
