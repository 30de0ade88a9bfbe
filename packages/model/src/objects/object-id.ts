import { ShoalError } from "../errors/shoal-error.js";

declare const objectIdBrand: unique symbol;

/** The id of an object: a uuid in canonical form (lower case, 8-4-4-4-12 with dashes, any version). */
export type ObjectId = string & { readonly [objectIdBrand]: true };

/** Length in bytes of a raw uuid, the form in which ids are hashed, ordered and stored. */
export const OBJECT_ID_BYTES = 16;

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DASHED = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const PLAIN = /^[0-9a-f]{32}$/i;

/** The characters of the hexadecimal digits. */
const DIGITS = Buffer.from("0123456789abcdef");

/** Where the text of an id is put together: its dashes stand in it. */
const TEXT = Buffer.from("00000000-0000-0000-0000-000000000000");

/** The canonical id of `text` (dashes may be left out, case does not matter), or undefined when it is no uuid. */
export function parseObjectId(text: string): ObjectId | undefined {
  if (CANONICAL.test(text)) return text as ObjectId;
  if (DASHED.test(text)) return text.toLowerCase() as ObjectId;
  if (!PLAIN.test(text)) return undefined;
  const hex = text.toLowerCase();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as ObjectId;
}

/** Writes the 16 raw bytes of `id` to `target` at `offset`. */
export function writeObjectId(id: ObjectId, target: Uint8Array, offset = 0): void {
  let at = offset;
  for (let char = 0; char < 36; char += 2) {
    if (char === 8 || char === 13 || char === 18 || char === 23) char++;
    target[at++] = (hexDigit(id.charCodeAt(char)) << 4) | hexDigit(id.charCodeAt(char + 1));
  }
}

/** The 16 raw bytes of `id`. */
export function objectIdToBytes(id: ObjectId): Uint8Array {
  const bytes = new Uint8Array(OBJECT_ID_BYTES);
  writeObjectId(id, bytes);
  return bytes;
}

/** The id whose raw bytes stand in `bytes` at `offset`. Fails with `internal` when fewer than 16 are left. */
export function objectIdFromBytes(bytes: Uint8Array, offset = 0): ObjectId {
  if (bytes.length - offset < OBJECT_ID_BYTES) {
    throw new ShoalError("internal", `an object id has ${OBJECT_ID_BYTES} bytes, got ${bytes.length - offset}`);
  }
  let at = 0;
  for (let i = 0; i < OBJECT_ID_BYTES; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) at++;
    const byte = bytes[offset + i] ?? 0;
    TEXT[at++] = DIGITS[byte >> 4] ?? 0;
    TEXT[at++] = DIGITS[byte & 15] ?? 0;
  }
  // One flat string: one of many pieces costs its first reader more than making it does.
  return TEXT.toString("latin1") as ObjectId;
}

/** 0 to 9 are characters 48 to 57, a to f are 97 to 102. Without a branch: nobody could foretell it. */
function hexDigit(charCode: number): number {
  return (charCode & 15) + (charCode >> 6) * 9;
}
