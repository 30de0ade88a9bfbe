import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { ShoalError } from "@shoal/model";
import { slotCount, Vocabulary, WordTable } from "./word-table.js";

/*
 * A vocabulary in one file, ready to be used as it stands: a header of HEADER_BYTES (little-endian: magic, format, words,
 * dimensions, slots, bytes of the words, CRC-32C of all that follows), the matrix, the ends of the words, the slots of the
 * hash table, the words.
 *
 * The addon is loaded with the first file: a process that vectorizes nothing goes without.
 */
const MAGIC = Buffer.from("SHOALVOC");
const FORMAT = 1;
const HEADER_BYTES = 64;

/** Read and checked at once. */
const CHUNK_BYTES = 4 * 1024 * 1024;

interface Layout {
  readonly words: number;
  readonly dimensions: number;
  readonly slots: number;
  readonly textBytes: number;
}

function matrixBytes({ words, dimensions }: Layout): number {
  return words * dimensions * 4;
}

function bodyBytes(layout: Layout): number {
  return matrixBytes(layout) + layout.words * 4 + layout.slots * 4 + layout.textBytes;
}

/** Undefined when there is no such file, or none that is whole: it can be made again. */
export async function readVocabulary(path: string): Promise<Vocabulary | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  await using _ = file;
  const header = Buffer.alloc(HEADER_BYTES);
  await file.read(header, 0, HEADER_BYTES, 0);
  if (!header.subarray(0, 8).equals(MAGIC) || header.readUInt32LE(8) !== FORMAT) return undefined;
  const layout = {
    words: header.readUInt32LE(12),
    dimensions: header.readUInt32LE(16),
    slots: header.readUInt32LE(20),
    textBytes: header.readUInt32LE(24),
  };
  const length = bodyBytes(layout);
  if ((await file.stat()).size !== HEADER_BYTES + length) return undefined;
  const body = Buffer.from(new ArrayBuffer(length));
  const { crc32c } = await import("@shoal/native");
  let sum = 0;
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(body, at, Math.min(CHUNK_BYTES, length - at), HEADER_BYTES + at);
    if (bytesRead === 0) return undefined;
    sum = crc32c(body, at, at + bytesRead, sum);
    at += bytesRead;
  }
  return sum === header.readUInt32LE(28) ? vocabularyOf(body, layout) : undefined;
}

function vocabularyOf(body: Buffer, layout: Layout): Vocabulary {
  const { words, dimensions, slots } = layout;
  const matrix = new Float32Array(body.buffer, 0, words * dimensions);
  const ends = new Uint32Array(body.buffer, matrixBytes(layout), words);
  const table = new Uint32Array(body.buffer, matrixBytes(layout) + words * 4, slots);
  return new Vocabulary(
    new WordTable(body.subarray(matrixBytes(layout) + words * 4 + slots * 4), ends, table),
    matrix,
    dimensions,
  );
}

/** Makes a vocabulary of its words, most frequent first, and their vectors. Fails with `invalid` when there are none. */
export function makeVocabulary(words: readonly string[], matrix: Float32Array): { body: Buffer; layout: Layout } {
  const text = Buffer.from(words.join(""));
  const layout = {
    words: words.length,
    dimensions: matrix.length / words.length,
    slots: slotCount(words.length),
    textBytes: text.length,
  };
  if (!Number.isInteger(layout.dimensions) || layout.dimensions === 0) {
    throw new ShoalError("invalid", `${matrix.length} numbers are no vectors of ${words.length} words`);
  }
  const body = Buffer.from(new ArrayBuffer(bodyBytes(layout)));
  new Float32Array(body.buffer, 0, matrix.length).set(matrix);
  const ends = new Uint32Array(body.buffer, matrixBytes(layout), words.length);
  let end = 0;
  for (const [number, word] of words.entries()) {
    end += Buffer.byteLength(word);
    ends[number] = end;
  }
  text.copy(body, bodyBytes(layout) - text.length);
  const slots = new Uint32Array(body.buffer, matrixBytes(layout) + words.length * 4, layout.slots);
  WordTable.fill(text, ends, slots);
  return { body, layout };
}

/** A vocabulary in memory, as if read from a file. */
export function vocabularyIn(words: readonly string[], matrix: Float32Array): Vocabulary {
  const { body, layout } = makeVocabulary(words, matrix);
  return vocabularyOf(body, layout);
}

/** Writes the file as a whole or not at all. */
export async function writeVocabulary(path: string, words: readonly string[], matrix: Float32Array): Promise<void> {
  const { body, layout } = makeVocabulary(words, matrix);
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  const { words: count, dimensions, slots, textBytes } = layout;
  const { crc32c } = await import("@shoal/native");
  for (const [i, number] of [FORMAT, count, dimensions, slots, textBytes, crc32c(body, 0, body.length, 0)].entries()) {
    header.writeUInt32LE(number, 8 + i * 4);
  }
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${randomUUID()}`;
  try {
    await using file = await open(temporary, "w");
    await file.writev([header, body]);
    await file.sync();
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
  await rename(temporary, path);
}
