import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { ShoalError } from "@shoal/model";
import type { Logger, ResourceScope } from "@shoal/service-runtime";

/** So often it is looked whether files have changed. */
export const LOOK_MS = 5_000;

/** What files hold, and every later content. */
export interface FollowedFiles<Content> {
  current(): Content;
  onChange(listener: (content: Content) => void): Disposable;
}

export interface FollowedFilesOptions<Content extends object> {
  /** For the log: `certificates` when absent. */
  readonly what?: string;
  readonly paths: readonly string[];
  /** Fails with `invalid` on what cannot be used. `signal`: nobody wants it any more. */
  readonly read: (signal: AbortSignal) => Promise<Content>;
  readonly logger: Logger;
  readonly lookMs?: number | undefined;
}

/**
 * Certificates and keys in files, read again when they change. What does not fit together (a renewal under way, a damaged
 * file) is not taken: the former stays. Fails as `read` when it does not fit at the start.
 */
export async function followFiles<Content extends object>(
  { what = "certificates", paths, read, logger, lookMs = LOOK_MS }: FollowedFilesOptions<Content>,
  scope: ResourceScope,
): Promise<FollowedFiles<Content>> {
  const stopped = new AbortController();
  const { signal } = stopped;
  scope.defer(() => stopped.abort());
  const listeners = new Set<(content: Content) => void>();
  let stamp = await stampOf(paths);
  let content = await read(signal);
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const now = await stampOf(paths);
      if (now !== stamp) {
        const fresh = await read(signal);
        if (signal.aborted) return;
        stamp = now;
        if (isDeepStrictEqual(fresh, content)) return;
        content = fresh;
        logger.info({ files: paths }, `${what} were read again`);
        for (const listener of listeners) listener(content);
      }
    } catch (thrown) {
      if (signal.aborted) return;
      const error = ShoalError.from(thrown);
      // What is wrong with a file needs no stack.
      const shown = error.code === "internal" ? error : error.message;
      logger.warn({ files: paths, error: shown }, `changed ${what} cannot be used; the former ones stay`);
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void look(), lookMs);
  timer.unref();
  scope.defer(() => clearInterval(timer));
  return {
    current: () => content,
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => listeners.delete(listener) };
    },
  };
}

/**
 * Changes when a file does; also where it is a link that points elsewhere now, and where it is written in place and keeps its size and
 * time of change: nobody sets its `ctime`.
 */
async function stampOf(paths: readonly string[]): Promise<string> {
  const all = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return all.map((one) => (one === undefined ? "-" : `${one.ino} ${one.size} ${one.mtimeMs} ${one.ctimeMs}`)).join();
}

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

/** Fails with `invalid`, in words that follow the name of a file, when it is no regular one. */
export function refuseIrregular(stats: Stats): void {
  if (!stats.isFile()) throw new ShoalError("invalid", `it is ${kindOf(stats)}, not a regular file`);
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  return "a device";
}
