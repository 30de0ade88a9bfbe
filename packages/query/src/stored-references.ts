import { type ObjectId, parseObjectId, ShoalError } from "@shoal/model";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const BEACON = '"beacon":"';
const ID_CHARS = 36;

const NONE: readonly ObjectId[] = [];

/** Reads what a reference property of stored objects points to, without parsing anything else of them. */
export class StoredReferences {
  readonly #begin: Buffer;

  constructor(property: string) {
    // Quotes inside of a string are escaped and values that are objects have no lists, so these bytes are found as a
    // member of the properties only.
    this.#begin = Buffer.from(`${JSON.stringify(property)}:[`);
  }

  /**
   * The ids in their stored order, doubles kept; none when the property is not set. `propertiesJson` is as JSON.stringify
   * writes it. Fails with `dataLoss` on a list that was not written by this server.
   */
  idsOf(propertiesJson: Uint8Array): readonly ObjectId[] {
    const bytes = Buffer.from(propertiesJson.buffer, propertiesJson.byteOffset, propertiesJson.byteLength);
    const found = bytes.indexOf(this.#begin);
    if (found < 0) return NONE;
    const start = found + this.#begin.length;
    if (bytes[start] === CLOSE_BRACKET) return NONE;
    const list = bytes.toString("latin1", start, endOfList(bytes, start));
    const ids: ObjectId[] = [];
    for (let at = list.indexOf(BEACON); at >= 0; at = list.indexOf(BEACON, at)) {
      at = list.indexOf('"', at + BEACON.length);
      const id = parseObjectId(list.slice(at - ID_CHARS, at));
      if (id === undefined) throw unreadable(start);
      ids.push(id);
    }
    return ids;
  }
}

/** Where the list whose first item begins at `start` is closed. */
function endOfList(bytes: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  throw unreadable(start);
}

function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at;
  }
  throw unreadable(start);
}

function unreadable(at: number): ShoalError {
  return new ShoalError("dataLoss", `stored references cannot be read at byte ${at}`);
}
