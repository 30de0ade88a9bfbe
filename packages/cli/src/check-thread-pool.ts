import { ShoalError } from "@shoal/model";

/** libuv takes no more. */
const THREADS_MAX = 1024;

/**
 * Fails with `invalid` when `UV_THREADPOOL_SIZE` is no number of threads: libuv takes what it cannot read for one thread, on which
 * everything would wait for everything.
 */
export function checkThreadPool({ UV_THREADPOOL_SIZE: wanted = "" }: NodeJS.ProcessEnv): void {
  if (wanted === "") return;
  const threads = Number(wanted);
  if (/^\d+$/.test(wanted) && threads >= 1 && threads <= THREADS_MAX) return;
  throw new ShoalError(
    "invalid",
    `UV_THREADPOOL_SIZE is '${wanted}', it must be a whole number from 1 to ${THREADS_MAX}: the threads that read and write files`,
  );
}
