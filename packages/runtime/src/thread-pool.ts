/** What libuv takes by itself, and at most (`src/threadpool.c`, `init_threads`). */
const THREADS_DEFAULT = 4;
export const POOL_THREADS_MAX = 1024;

/** Threads of libuv's pool; undefined when `UV_THREADPOOL_SIZE` is no whole number of threads: libuv takes one then, or its most. */
export function poolThreads({ UV_THREADPOOL_SIZE: wanted = "" }: NodeJS.ProcessEnv): number | undefined {
  if (wanted === "") return THREADS_DEFAULT;
  const threads = Number(wanted);
  return /^\d+$/.test(wanted) && threads >= 1 && threads <= POOL_THREADS_MAX ? threads : undefined;
}
