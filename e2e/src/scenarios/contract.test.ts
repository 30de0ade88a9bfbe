import { expect, it } from "vitest";
import { readContractRows, readCovers } from "./contract-rows.js";
import { contractTable } from "./contract-table.js";

const rows = readContractRows();
const covers = readCovers();
const covered = new Set(covers.map((one) => one.row));

it("scenarios name rows that exist", () => {
  const known = new Set(rows.map((row) => row.id));
  expect(covers.filter((one) => !known.has(one.row))).toEqual([]);
});

it("every row that waits for nothing has a scenario", () => {
  const bare = rows.filter((row) => row.waits === undefined && !covered.has(row.id));
  expect(bare.map((row) => `${row.id}: ${row.text}`)).toEqual([]);
});

it("a row that waits for something has none: take `waits` out of its line once it has", () => {
  const ready = rows.filter((row) => row.waits !== undefined && covered.has(row.id));
  expect(ready.map((row) => `${row.id} waits for ${row.waits}`)).toEqual([]);
});

it("CONTRACT.md is what these rows and scenarios give", async () => {
  await expect(contractTable(rows, covers)).toMatchFileSnapshot("../../CONTRACT.md");
});
