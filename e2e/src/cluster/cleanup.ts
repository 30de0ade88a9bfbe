import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What is still to be undone, the latest last. */
const pending = new Set<() => void>();
let isWatching = false;

/**
 * Runs `undo` when this process ends for whatever reason but SIGKILL, unless the answer was disposed of before, which
 * runs it at once. It must be synchronous, and safe to call when what it undoes is gone already.
 */
export function undoAtEnd(undo: () => void): Disposable {
  watchTheEnd();
  pending.add(undo);
  return {
    [Symbol.dispose]() {
      if (pending.delete(undo)) undo();
    },
  };
}

function watchTheEnd(): void {
  if (isWatching) return;
  isWatching = true;
  process.on("exit", () => {
    for (const undo of [...pending].reverse()) {
      try {
        undo();
      } catch {
        // The other ones are undone all the same.
      }
    }
  });
  // By itself a signal would end the process without `exit`.
  for (const signal of SIGNALS) process.once(signal, () => process.exit(128 + constants.signals[signal]));
}
