/*
 * Keys of the index, behind a prefix byte that the shard gives:
 *
 *   postings: length of the property's name (u8), name, kind (u8), term, 0x00 0x00, chunk (u32 BE)
 *   columns:  length of the property's name (u8), name, chunk (u32 BE)
 *
 * A zero byte in a term is written as 0x00 0xff, so terms order as their bytes do. A chunk of postings is 4,096 documents,
 * a chunk of a column 128.
 */

export const POSTING_CHUNK_DOCUMENTS = 4096;
export const POSTING_CHUNK_SHIFT = 12;
export const COLUMN_CHUNK_DOCUMENTS = 128;
export const COLUMN_CHUNK_SHIFT = 7;

/** First bytes of all keys; the shard's key layout keeps them apart from others. */
export interface IndexKeyPrefixes {
  readonly postings: number;
  readonly columns: number;
}

export interface Range {
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
}

/** What the terms of a posting are. A number once given is never given again. */
const POSTING_KINDS = {
  /** One byte: a flag of flags.ts. */
  flag: 1,
  /** Tokens as UTF-8. */
  token: 2,
  /** Tokens of more than `TERM_BYTES_MAX` bytes: 16 bytes of their SHA-256. */
  longToken: 3,
  /** Whole values as UTF-8, of the documents with the flag `irregular`. */
  whole: 4,
  /** Targets of references: 16 bytes of the uuid. */
  target: 5,
} as const;

export type PostingKind = keyof typeof POSTING_KINDS;

const TERMINATOR_BYTES = 2;
const CHUNK_BYTES = 4;
const ESCAPED_ZERO = 0xff;

/** The head of all keys of one kind of postings of a property. */
export function postingHead(prefixes: IndexKeyPrefixes, property: string, kind: PostingKind): Buffer {
  const name = Buffer.from(property);
  return Buffer.concat([Buffer.of(prefixes.postings, name.length), name, Buffer.of(POSTING_KINDS[kind])]);
}

export function columnHead(prefixes: IndexKeyPrefixes, property: string): Buffer {
  const name = Buffer.from(property);
  return Buffer.concat([Buffer.of(prefixes.columns, name.length), name]);
}

/** `term` in latin1 when `raw`: each character a byte; else in UTF-8. */
export function postingKey(head: Uint8Array, term: string, raw: boolean, chunk: number): Buffer {
  const body = Buffer.byteLength(term, raw ? "latin1" : "utf8");
  if (term.includes("\0")) return escapedKey(head, Buffer.from(term, raw ? "latin1" : "utf8"), chunk);
  const key = Buffer.allocUnsafe(head.length + body + TERMINATOR_BYTES + CHUNK_BYTES);
  key.set(head);
  key.write(term, head.length, raw ? "latin1" : "utf8");
  key.writeUInt16BE(0, head.length + body);
  key.writeUInt32BE(chunk, head.length + body + TERMINATOR_BYTES);
  return key;
}

function escapedKey(head: Uint8Array, term: Uint8Array, chunk: number): Buffer {
  const escaped: number[] = [];
  for (const byte of term) {
    escaped.push(byte);
    if (byte === 0) escaped.push(ESCAPED_ZERO);
  }
  const tail = Buffer.alloc(TERMINATOR_BYTES + CHUNK_BYTES);
  tail.writeUInt32BE(chunk, TERMINATOR_BYTES);
  return Buffer.concat([head, Uint8Array.from(escaped), tail]);
}

/** Term and chunk of a key that begins with a head of so many bytes; undefined when it is none. */
export function readPostingKey(
  key: Uint8Array,
  headBytes: number,
  raw: boolean,
): { readonly term: string; readonly chunk: number } | undefined {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
  const end = bytes.length - CHUNK_BYTES - TERMINATOR_BYTES;
  if (end < headBytes || bytes.readUInt16BE(end) !== 0) return undefined;
  const term = unescaped(bytes.subarray(headBytes, end));
  if (term === undefined) return undefined;
  return { term: term.toString(raw ? "latin1" : "utf8"), chunk: bytes.readUInt32BE(end + TERMINATOR_BYTES) };
}

function unescaped(bytes: Buffer): Buffer | undefined {
  if (!bytes.includes(0)) return bytes;
  const plain: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    plain.push(bytes[at] ?? 0);
    if (bytes[at] !== 0) continue;
    at += 1;
    if (bytes[at] !== ESCAPED_ZERO) return undefined;
  }
  return Buffer.from(plain);
}

/** All chunks of one term. */
export function termRange(head: Uint8Array, term: string, raw: boolean): Range {
  const first = postingKey(head, term, raw, 0);
  const upTo = Buffer.from(first.subarray(0, first.length - CHUNK_BYTES));
  upTo[upTo.length - 1] = 1;
  return { gte: first, lt: upTo };
}

/** All keys that begin with `head`; with a `prefix` (UTF-8) those whose terms begin with it. */
export function headRange(head: Uint8Array, prefix = ""): Range {
  const gte = prefix === "" ? Buffer.from(head) : beginningOfTerms(head, prefix);
  return { gte, lt: behind(gte) };
}

function beginningOfTerms(head: Uint8Array, prefix: string): Buffer {
  const key = postingKey(head, prefix, false, 0);
  return Buffer.from(key.subarray(0, key.length - CHUNK_BYTES - TERMINATOR_BYTES));
}

export function columnKey(head: Uint8Array, chunk: number): Buffer {
  const key = Buffer.allocUnsafe(head.length + CHUNK_BYTES);
  key.set(head);
  key.writeUInt32BE(chunk, head.length);
  return key;
}

/** Undefined when the key is none of a column with a head of so many bytes. */
export function chunkOfColumnKey(key: Uint8Array, headBytes: number): number | undefined {
  if (key.length !== headBytes + CHUNK_BYTES) return undefined;
  return Buffer.from(key.buffer, key.byteOffset, key.length).readUInt32BE(headBytes);
}

/** Everything that the index has in its store. */
export function indexRanges(prefixes: IndexKeyPrefixes): readonly Range[] {
  return [prefixes.postings, prefixes.columns].map((byte) => ({
    gte: Uint8Array.of(byte),
    lt: Uint8Array.of(byte + 1),
  }));
}

/** The first key behind all that begin with `head`: its last byte that is not 255, plus one. */
function behind(head: Uint8Array): Uint8Array {
  let end = head.length;
  while (end > 0 && head[end - 1] === 0xff) end -= 1;
  const next = Uint8Array.from(head.subarray(0, end));
  next[end - 1] = (next[end - 1] ?? 0) + 1;
  return next;
}
