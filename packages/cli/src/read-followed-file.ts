import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { ShoalError } from "@shoal/model";
import { refuseIrregular } from "./refuse-irregular.js";

/** Room for 10,000 API keys of 100 characters with their users, and for all authorities of an operating system. */
const FILE_BYTES_MAX = 2 * 1024 * 1024;

/**
 * What a file of the operator holds now. `variable` is the setting that names it. Fails with `invalid`, naming both, when it
 * cannot be read, is no regular file or is too large; never waits for somebody to write, as a named pipe would.
 */
export async function readFollowedFile(variable: string, file: string): Promise<Buffer> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    refuseIrregular(stats);
    if (stats.size > FILE_BYTES_MAX) throw tooLarge(stats.size);
    return await readAll(handle);
  } catch (thrown) {
    throw new ShoalError("invalid", `${variable} '${file}' cannot be read: ${ShoalError.from(thrown).message}`, {
      cause: thrown,
    });
  }
}

/** Files of the kernel say that they are empty, and others grow: what counts is what comes. */
async function readAll(handle: FileHandle): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of handle.createReadStream({ end: FILE_BYTES_MAX, autoClose: false })) {
    parts.push(part);
    bytes += part.length;
  }
  if (bytes > FILE_BYTES_MAX) throw tooLarge(bytes);
  return Buffer.concat(parts);
}

function tooLarge(bytes: number): ShoalError {
  return new ShoalError("invalid", `it has ${bytes} bytes, at most ${FILE_BYTES_MAX} are read`);
}
