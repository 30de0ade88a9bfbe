import { eventLoop, type Share } from "@shoal/runtime";

/** So much is written at once, in characters or bytes: some 0.7 ms for numbers. */
export const STEP_LENGTH = 64 * 1024;

/**
 * Writes a long text part by part, and yields in between: the process is never held for more than
 * some milliseconds and one part. `latin1` parts are strings whose char codes are the bytes. Parts that are bytes must stay as
 * they are for the step.
 */
export async function writeInSteps(
  parts: Iterable<string | Uint8Array>,
  encoding: "utf8" | "latin1",
  share: Share | undefined,
): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  let pieces: Uint8Array[] = [];
  let text = "";
  let length = 0;
  for (const part of parts) {
    length += part.length;
    if (typeof part === "string") text += part;
    else {
      if (text !== "") pieces.push(Buffer.from(text, encoding));
      pieces.push(part);
      text = "";
    }
    if (length < STEP_LENGTH) continue;
    chunks.push(chunkOf(pieces, text, encoding));
    pieces = [];
    text = "";
    length = 0;
    await eventLoop.next(share);
  }
  if (length > 0 || chunks.length === 0) chunks.push(chunkOf(pieces, text, encoding));
  return chunks;
}

function chunkOf(pieces: Uint8Array[], text: string, encoding: "utf8" | "latin1"): Buffer {
  const last = Buffer.from(text, encoding);
  return pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
}
