import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { refuseIrregular } from "../followed-files.js";
import type { AuditOutput } from "./audit-buffer.js";

/** Its owner's alone: who did what is nobody else's business. */
const MODE = 0o600;

/** Without `O_NONBLOCK` a named pipe would be waited for, in a thread that others need and that nothing ends, until somebody reads it. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/**
 * A file that is only appended to. It is reopened when its path leads to another file, or to none: whoever rotates it
 * renames it.
 */
export class AuditFile implements AuditOutput {
  readonly name: string;
  #file: FileHandle | undefined;
  /** Bytes of the first line that was not appended which stand in the file: the disk was full in the middle of it. */
  #begunBytes = 0;
  #isLeft = false;

  constructor(path: string) {
    this.name = path;
  }

  /** Fails when the file cannot be opened or made, and when it is no regular file. */
  async open(): Promise<void> {
    this.#file ??= await openRegular(this.name);
  }

  async append(lines: readonly Buffer[]): Promise<number> {
    await this.#follow();
    const file = this.#file;
    if (file === undefined) throw new Error("it is not open");
    const bytes = Buffer.concat(lines);
    let done = this.#begunBytes;
    try {
      while (done < bytes.length) done += (await file.write(bytes, done)).bytesWritten;
    } catch (error) {
      const whole = wholeLines(lines, done);
      this.#begunBytes = done - whole.bytes;
      if (whole.count === 0) throw error;
      return whole.count;
    }
    this.#begunBytes = 0;
    return lines.length;
  }

  /** Opens the file again before the next line. */
  reopen(): void {
    this.#isLeft = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #follow(): Promise<void> {
    const file = this.#file;
    if (file !== undefined && (this.#isLeft || !(await this.#leadsTo(file)))) {
      this.#file = undefined;
      // In another file the line begins again.
      this.#begunBytes = 0;
      await file.close();
    }
    this.#isLeft = false;
    await this.open();
  }

  async #leadsTo(file: FileHandle): Promise<boolean> {
    const [opened, named] = await Promise.all([file.stat(), stat(this.name).catch(() => undefined)]);
    return named?.ino === opened.ino && named.dev === opened.dev;
  }
}

async function openRegular(path: string): Promise<FileHandle> {
  // Looked at before, for a clear error, and after, as another file may have its place by then.
  const there = await stat(path).catch(() => undefined);
  if (there !== undefined) refuseIrregular(there);
  const file = await open(path, FLAGS, MODE);
  try {
    refuseIrregular(await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** How many of the lines end within so many bytes. */
function wholeLines(lines: readonly Buffer[], bytes: number): { readonly count: number; readonly bytes: number } {
  let end = 0;
  for (const [count, line] of lines.entries()) {
    if (end + line.length > bytes) return { count, bytes: end };
    end += line.length;
  }
  return { count: lines.length, bytes: end };
}
