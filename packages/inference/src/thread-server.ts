import { parentPort } from "node:worker_threads";

/** What a thread is sent: works, which it answers one after the other. */
export interface ThreadWork<Work> {
  readonly number: number;
  readonly work: Work;
}

/** What it answers: a result, or why there is none. `isLoaded`: the fault is the work's. */
export type ThreadAnswer<Result> =
  | { readonly number: number; readonly result: Result }
  | { readonly number: number; readonly failure: string; readonly isLoaded: boolean };

/** The inside of a thread: answers each work. `load` is called for the first one, and again when it failed. */
export function serveThread<Work, Result>(load: () => Promise<(work: Work) => Result | Promise<Result>>): void {
  let loaded: ReturnType<typeof load> | undefined;
  let last: Promise<void> = Promise.resolve();
  const answer = async ({ number, work }: ThreadWork<Work>): Promise<void> => {
    let isLoaded = false;
    try {
      loaded ??= load();
      const solve = await loaded;
      isLoaded = true;
      parentPort?.postMessage({ number, result: await solve(work) } satisfies ThreadAnswer<Result>);
    } catch (thrown) {
      if (!isLoaded) loaded = undefined;
      const failure = thrown instanceof Error ? thrown.message : String(thrown);
      parentPort?.postMessage({ number, failure, isLoaded } satisfies ThreadAnswer<Result>);
    }
  };
  parentPort?.on("message", (message: ThreadWork<Work>) => {
    last = last.then(() => answer(message));
  });
}
