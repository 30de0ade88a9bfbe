import { ShoalError } from "@shoal/model";
import { POOL_THREADS_MAX, poolThreads } from "@shoal/runtime";

/**
 * Fails with `invalid` when `UV_THREADPOOL_SIZE` is no number of threads: libuv takes what it cannot read for one thread, on which
 * everything would wait for everything.
 */
export function checkThreadPool(environment: NodeJS.ProcessEnv): void {
  if (poolThreads(environment) !== undefined) return;
  const { UV_THREADPOOL_SIZE: wanted } = environment;
  throw new ShoalError(
    "invalid",
    `UV_THREADPOOL_SIZE is '${wanted}', it must be a whole number from 1 to ${POOL_THREADS_MAX}: the threads that read and write files`,
  );
}
