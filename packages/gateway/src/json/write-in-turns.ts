import { setImmediate } from "node:timers/promises";

/** So much is written at once: some 5 ms for numbers, and half a megabyte of answer. */
const TURN_CHARS = 512 * 1024;

/**
 * Writes a long text part by part, and lets others have their turn in between: the process is never held for more than
 * some milliseconds and one part. `latin1` parts are strings whose char codes are the bytes.
 */
export async function writeInTurns(parts: Iterable<string>, encoding: "utf8" | "latin1"): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  let turn = "";
  for (const part of parts) {
    turn += part;
    if (turn.length < TURN_CHARS) continue;
    chunks.push(Buffer.from(turn, encoding));
    turn = "";
    await setImmediate();
  }
  if (turn !== "" || chunks.length === 0) chunks.push(Buffer.from(turn, encoding));
  return chunks;
}
