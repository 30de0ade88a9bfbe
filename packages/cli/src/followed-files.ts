import { stat } from "node:fs/promises";
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
      const told = error.code === "internal" ? error : error.message;
      logger.warn({ files: paths, error: told }, `changed ${what} cannot be used; the former ones stay`);
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
