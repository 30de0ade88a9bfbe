import { useState } from "preact/hooks";

const KEY = "shoal.console.history";

/** A query that was run, with everything needed to run it again. Answers, users and tokens are not part of it. */
export interface HistoryEntry {
  readonly query: string;
  readonly variables: string;
  /** Unix milliseconds of its last run. */
  readonly at: number;
  /** Whether that gave a response without errors. */
  readonly isGood: boolean;
}

export const HISTORY_ENTRIES_MAX = 60;
export const HISTORY_CHARS_MAX = 500_000;
/** A query with a long vector would push out all the others. */
export const ENTRY_CHARS_MAX = 50_000;

/** Newest first. A query that is there already moves to the front; the oldest ones go when a limit is reached. */
export function withEntry(history: readonly HistoryEntry[], entry: HistoryEntry): readonly HistoryEntry[] {
  if (charsOf(entry) > ENTRY_CHARS_MAX) return history;
  const others = history.filter((one) => one.query !== entry.query || one.variables !== entry.variables);
  return bounded([entry, ...others]);
}

/** What a browser has kept, as far as it is a history. */
export function readHistory(text: string | null): readonly HistoryEntry[] {
  try {
    const kept: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(kept) ? bounded(kept.filter(isEntry).map(bare)) : [];
  } catch {
    return [];
  }
}

export function writeHistory(history: readonly HistoryEntry[]): string {
  return JSON.stringify(history.map(bare));
}

/** The first line of it that says something. */
export function titleOf({ query }: HistoryEntry): string {
  const words = query.replaceAll(/#.*$/gm, " ").replaceAll(/\s+/g, " ").trim();
  return words.replace(/^(query\s*)?\{\s*/, "") || "(empty)";
}

/** The queries that were run in this browser. */
export function useHistory(storage: Storage) {
  const [entries, setEntries] = useState(() => readHistory(storage.getItem(KEY)));
  const change = (changed: (before: readonly HistoryEntry[]) => readonly HistoryEntry[]): void => {
    // Another tab may have added to it.
    const next = changed(readHistory(storage.getItem(KEY)));
    setEntries(next);
    try {
      storage.setItem(KEY, writeHistory(next));
    } catch {
      // A browser may have no room, or forbid it: then it is just not kept.
      storage.removeItem(KEY);
    }
  };
  return {
    entries,
    add: (entry: HistoryEntry) => change((before) => withEntry(before, entry)),
    clear: () => change(() => []),
  };
}

function bounded(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  let chars = 0;
  const kept: HistoryEntry[] = [];
  for (const entry of entries) {
    chars += charsOf(entry);
    if (kept.length === HISTORY_ENTRIES_MAX || chars > HISTORY_CHARS_MAX) break;
    kept.push(entry);
  }
  return kept;
}

function charsOf({ query, variables }: HistoryEntry): number {
  return query.length + variables.length;
}

function isEntry(value: unknown): value is HistoryEntry {
  if (typeof value !== "object" || value === null) return false;
  const { query, variables, at, isGood } = value as Partial<HistoryEntry>;
  if (typeof query !== "string" || typeof variables !== "string") return false;
  return typeof at === "number" && Number.isFinite(at) && typeof isGood === "boolean";
}

function bare({ query, variables, at, isGood }: HistoryEntry): HistoryEntry {
  return { query, variables, at, isGood };
}
