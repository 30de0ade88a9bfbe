import { useState } from "preact/hooks";
import { type HistoryEntry, readHistory, withEntry, writeHistory } from "./history.js";

const KEY = "shoal.console.history";

export interface History {
  readonly entries: readonly HistoryEntry[];
  readonly add: (entry: HistoryEntry) => void;
  readonly clear: () => void;
}

/** The queries that were run in this browser. */
export function useHistory(storage: Storage): History {
  const [entries, setEntries] = useState(() => readHistory(storage.getItem(KEY)));
  const change = (changed: (before: readonly HistoryEntry[]) => readonly HistoryEntry[]): void => {
    // Another tab may have added to it.
    const next = changed(readHistory(storage.getItem(KEY)));
    setEntries(next);
    keep(storage, writeHistory(next));
  };
  return {
    entries,
    add: (entry) => change((before) => withEntry(before, entry)),
    clear: () => change(() => []),
  };
}

/** A browser may have no room, or forbid it: then it is just not kept. */
function keep(storage: Storage, text: string): void {
  try {
    storage.setItem(KEY, text);
  } catch {
    storage.removeItem(KEY);
  }
}
