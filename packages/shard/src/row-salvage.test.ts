import { describe, expect, it } from "vitest";
import { IdTable } from "./id-table.js";
import { rowKeyOfRawId } from "./key-layout.js";
import { judgeRow, noteOf, type RowVerdict } from "./row-salvage.js";

const rawId = new Uint8Array(16).fill(7);
const nothing = { rank: -1, tag: -1, written: -1, deleted: -1, damaged: -1, note: -1 };
const row = { rank: 10, tag: 1, written: 100 };

interface Case {
  readonly history: Partial<typeof nothing>;
  /** What a snapshot of the id table has reached, and whether it has the id. */
  readonly table?: { readonly sequence: number; readonly has: boolean; readonly isOfStore?: boolean };
  readonly mayHaveLost?: boolean;
}

function judge({ history, table, mayHaveLost = false }: Case): RowVerdict {
  const ids = table && new IdTable(1);
  if (table?.has) ids?.insert(rawId, 0, 1);
  return judgeRow({ key: rowKeyOfRawId(rawId), ...nothing, ...history }, rawId, {
    table: ids,
    tableSequence: table?.sequence ?? -1,
    isTableOfStore: table?.isOfStore ?? true,
    mayHaveLostAny: () => mayHaveLost,
    mayHaveLostNewer: () => mayHaveLost,
  });
}

const DELETE = true;
const PUT = false;

describe("F9: what becomes of a row", () => {
  it.each<readonly [string, RowVerdict, Case]>([
    ["the newest there is", "kept", { history: row }],
    ["the one that the journal ends with", "kept", { history: { ...row, note: noteOf(10, PUT) } }],
    ["made again after a deletion", "kept", { history: { ...row, deleted: 90, note: noteOf(9, DELETE) } }],
    ["made after the id table was written", "kept", { history: row, table: { sequence: 9, has: false } }],
    ["in a damaged range", "doubtful", { history: row, mayHaveLost: true }],
    ["older than its journal entry", "stale", { history: { ...row, note: noteOf(11, PUT) } }],
    ["older than a damaged record", "stale", { history: { ...row, damaged: 101 } }],
    ["deleted, says the journal", "deleted", { history: { ...row, note: noteOf(11, DELETE) }, mayHaveLost: true }],
    ["deleted, says a whole file", "deleted", { history: { ...row, deleted: 101 }, mayHaveLost: true }],
    ["not in a later id table", "deleted", { history: row, table: { sequence: 10, has: false }, mayHaveLost: true }],
    [
      "not in an id table of another time",
      "doubtful",
      { history: row, table: { sequence: 10, has: false, isOfStore: false } },
    ],
    [
      "deleted, then made again, and that is lost",
      "lost",
      { history: { ...row, deleted: 101, note: noteOf(12, PUT) } },
    ],
    [
      "gone from the id table, then made again",
      "lost",
      { history: { ...row, note: noteOf(12, PUT) }, table: { sequence: 11, has: false } },
    ],
    ["a damaged record alone", "lost", { history: { damaged: 5 } }],
    ["a damaged record, deleted since", "none", { history: { damaged: 5, deleted: 6 } }],
    ["a journal entry alone, where nothing is damaged", "none", { history: { note: noteOf(4, PUT) } }],
    ["a journal entry alone, in a damaged range", "lost", { history: { note: noteOf(4, PUT) }, mayHaveLost: true }],
    ["the journal's deletion alone", "none", { history: { note: noteOf(4, DELETE) }, mayHaveLost: true }],
    [
      "the journal's deletion, and a later id table that has it",
      "lost",
      { history: { note: noteOf(4, DELETE) }, table: { sequence: 5, has: true }, mayHaveLost: true },
    ],
  ])("%s: %s", (_, verdict, given) => expect(judge(given)).toBe(verdict));
});
