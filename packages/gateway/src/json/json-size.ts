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

/** Smaller bodies cannot hold enough to hurt. */
const UNCOUNTED_BYTES_MAX = 256 * 1024;

/** Smaller bodies cannot nest deep enough to hurt. */
const UNNESTED_BYTES_MAX = 1024 * 1024;

/** So many levels the parser can take without harm; what it built is then checked exactly. */
const OPENERS_MAX = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Fails with `tooLarge` on a text that holds more than `size`. */
export function refuseHeavyJson(bytes: Buffer, size: JsonSize): void {
  if (bytes.length <= UNCOUNTED_BYTES_MAX) return;
  const { membersMax, containersMax, scalarsMax } = size;
  // Searching costs little, but finds what stands in strings, too; only then is it worth looking where they are.
  const colons = countUpTo(bytes, COLON, membersMax);
  const openers = countUpTo(bytes, OPEN_BRACKET, containersMax) + countUpTo(bytes, OPEN_BRACE, containersMax);
  const commas = countUpTo(bytes, COMMA, scalarsMax);
  if (colons <= membersMax && openers <= containersMax && commas <= scalarsMax) return;
  refuseSize("the request body", countOutsideStrings(bytes, size), size);
}

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

/**
 * Whether a text nests deeper than `depthMax`, in texts that can nest deep enough to hurt: a parser takes memory for every
 * level before it fails. Others are not looked at.
 */
export function nestsDeeperThan(bytes: Buffer, depthMax: number): boolean {
  if (bytes.length <= UNNESTED_BYTES_MAX) return false;
  const openers = countUpTo(bytes, OPEN_BRACKET, OPENERS_MAX) + countUpTo(bytes, OPEN_BRACE, OPENERS_MAX);
  if (openers <= OPENERS_MAX) return false;
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) i = stringEnd(bytes, i);
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth++;
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth--;
    if (depth > depthMax) return true;
  }
  return false;
}

function tooMany(name: string, what: string, most: number): ShoalError {
  return new ShoalError("tooLarge", `${name} has more than ${most} ${what}`);
}

/** How often a byte occurs; `most` + 1 when it is more often than that. */
function countUpTo(bytes: Buffer, byte: number, most: number): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at !== -1 && count <= most; at = bytes.indexOf(byte, at + 1)) count++;
  return count;
}

/** Scalars by the commas behind them: exact enough for a limit. Ends at the first thing of which there are too many. */
function countOutsideStrings(bytes: Buffer, { membersMax, containersMax, scalarsMax }: JsonSize): JsonCount {
  let members = 0;
  let containers = 0;
  let scalars = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (members > membersMax || containers > containersMax || scalars > scalarsMax) break;
    const byte = bytes[i];
    if (byte === QUOTE) i = stringEnd(bytes, i);
    else if (byte === COLON) members++;
    else if (byte === COMMA) scalars++;
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) containers++;
  }
  return { members, containers, scalars };
}

/** Where the string that begins at `at` ends. */
function stringEnd(bytes: Buffer, at: number): number {
  let end = at + 1;
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return end;
}
