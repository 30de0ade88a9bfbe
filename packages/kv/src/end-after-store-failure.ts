/**
 * Ends the process at once, without the clean-up of addons. A main in which a store went to `failed` ends this way, after
 * it has closed what it can and written its last words: RocksDB may abort when it is taken down after an I/O error.
 * Nothing acknowledged is lost by it, all of that is synced.
 */
export function endAfterStoreFailure(exitCode: number): never {
  const { reallyExit } = process as NodeJS.Process & { reallyExit?: (code: number) => never };
  if (reallyExit !== undefined) reallyExit.call(process, exitCode);
  process.kill(process.pid, "SIGKILL");
  throw new Error("the process goes on after SIGKILL");
}
