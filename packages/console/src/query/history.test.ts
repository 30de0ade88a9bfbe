import { describe, expect, it } from "vitest";
import {
  ENTRY_CHARS_MAX,
  HISTORY_CHARS_MAX,
  HISTORY_ENTRIES_MAX,
  type HistoryEntry,
  readHistory,
  titleOf,
  withEntry,
  writeHistory,
} from "./history.js";

function entry(query: string, at = 1, isGood = true): HistoryEntry {
  return { query, variables: "", at, isGood };
}

function filled(count: number, length = 10): readonly HistoryEntry[] {
  let history: readonly HistoryEntry[] = [];
  for (let at = 0; at < count; at++) history = withEntry(history, entry(String(at).padEnd(length, "x"), at));
  return history;
}

describe("the history", () => {
  it("has the newest first, and each query once", () => {
    const history = [entry("a", 1), entry("b", 2), entry("a", 3, false)].reduce(
      withEntry,
      [] as readonly HistoryEntry[],
    );
    expect(history).toEqual([entry("a", 3, false), entry("b", 2)]);
    const other = { ...entry("a", 4), variables: "{}" };
    expect(withEntry(history, other)).toHaveLength(3);
  });

  it("is bounded in entries and in characters", () => {
    expect(filled(HISTORY_ENTRIES_MAX + 10)).toHaveLength(HISTORY_ENTRIES_MAX);
    const long = filled(40, ENTRY_CHARS_MAX);
    expect(long).toHaveLength(HISTORY_CHARS_MAX / ENTRY_CHARS_MAX);
    expect(long[0]?.at).toBe(39);
    expect(withEntry(long, entry("y".repeat(ENTRY_CHARS_MAX + 1)))).toBe(long);
  });

  it("survives the browser's storage", () => {
    const history = filled(5);
    expect(readHistory(writeHistory(history))).toEqual(history);
    expect(readHistory(JSON.stringify(filled(500)))).toHaveLength(HISTORY_ENTRIES_MAX);
  });

  it("writes nothing but what an entry has", () => {
    const sneaky = { ...entry("a"), token: "secret" };
    expect(writeHistory([sneaky])).not.toContain("secret");
    expect(readHistory(JSON.stringify([sneaky]))).toEqual([entry("a")]);
  });

  it.each([null, "", "{", "{}", "[1,null,{}]", '[{"query":1,"variables":"","at":1,"isGood":true}]'])(
    "%j is an empty one",
    (text) => {
      expect(readHistory(text)).toEqual([]);
    },
  );

  it.each([
    ["{ Get { Word { text } } }", "Get { Word { text } } }"],
    ["# a comment\nquery {\n  Get\n}", "Get }"],
    ["query Named { a }", "query Named { a }"],
    ["  ", "(empty)"],
  ])("%j is shown as %j", (query, title) => {
    expect(titleOf(entry(query))).toBe(title);
  });
});
