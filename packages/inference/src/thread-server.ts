import { parentPort } from "node:worker_threads";

/** What a thread answers a work with: a result, or why there is none. `isLoaded`: the fault is the work's. */
export type ThreadResponse<Result> =
  | { readonly result: Result }
  | { readonly failure: string; readonly isLoaded: boolean };

/**
 * The inside of a thread: answers each work; it gets the next one when it has answered. `load` is called for the first one, and
 * again when it failed.
 */
export function serveThread<Work, Result>(load: () => Promise<(work: Work) => Result | Promise<Result>>): void {
  let loaded: ReturnType<typeof load> | undefined;
  parentPort?.on("message", async (work: Work) => {
    let isLoaded = false;
    try {
      loaded ??= load();
      const solve = await loaded;
      isLoaded = true;
      parentPort?.postMessage({ result: await solve(work) } satisfies ThreadResponse<Result>);
    } catch (thrown) {
      if (!isLoaded) loaded = undefined;
      const failure = thrown instanceof Error ? thrown.message : String(thrown);
      parentPort?.postMessage({ failure, isLoaded } satisfies ThreadResponse<Result>);
    }
  });
}
