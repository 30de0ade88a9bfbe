import { ShoalError } from "@shoal/model";

/**
 * How much a body may hold beside its bytes. Each member and each object or list is made while nothing else happens in the
 * process: a million members of different names take JSON.parse a second, a million empty objects a fifth of it.
 */
export interface JsonSize {
  /** Members of all objects together. */
  readonly membersMax: number;
  /** Objects and lists together. */
  readonly containersMax: number;
  /** Strings, numbers and words together, but for those of the vectors that are cut out. */
  readonly scalarsMax: number;
}

/** What a text holds. */
export interface JsonCount {
  readonly members: number;
  readonly containers: number;
  readonly scalars: number;
}

/** Of a body about one thing, and of an item of a batch. A class may have 2,000 properties. */
export const ONE_BODY: JsonSize = { membersMax: 50_000, containersMax: 200_000, scalarsMax: 300_000 };

/** Of a body with many items: ten members for each of the 100,000 that a batch may have. */
export const BATCH_BODY: JsonSize = { membersMax: 1_000_000, containersMax: 1_000_000, scalarsMax: 10_000_000 };

/** Bytes of what is parsed and stored in one go, beside its vectors: an object, a reference. */
export const ITEM_BYTES_MAX = 16 * 1024 * 1024;

/** Fails with `tooLarge` when a text holds more than `size`; `name` is what it is called. */
export function refuseSize(name: string, counted: JsonCount, size: JsonSize): void {
  if (counted.members > size.membersMax) throw tooMany(name, "members", size.membersMax);
  if (counted.containers > size.containersMax) throw tooMany(name, "objects and lists", size.containersMax);
  if (counted.scalars > size.scalarsMax) throw tooMany(name, "strings, numbers and words", size.scalarsMax);
}

/** Fails with `tooLarge` on what is more than an item may be. `bytes` are those beside its vectors. */
export function refuseItem(bytes: number, counted: JsonCount): void {
  refuseSize("an item of the request body", counted, ONE_BODY);
  if (bytes <= ITEM_BYTES_MAX) return;
  throw new ShoalError(
    "tooLarge",
    `an item of the request body has ${bytes} bytes beside its vector, at most ${ITEM_BYTES_MAX} are allowed`,
  );
}

/** Fails with `tooLarge` on what is more than is parsed in one go. */
export function refuseLength(bytes: number): void {
  if (bytes <= ITEM_BYTES_MAX) return;
  throw new ShoalError(
    "tooLarge",
    `the request body has ${bytes} bytes, at most ${ITEM_BYTES_MAX} are parsed in one go`,
  );
}

function tooMany(name: string, what: string, most: number): ShoalError {
  return new ShoalError("tooLarge", `${name} has more than ${most} ${what}`);
}
