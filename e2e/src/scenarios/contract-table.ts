import type { ContractRow, Cover } from "./contract-rows.js";

/** Markdown: every row of the contract with the scenarios that cover it, or with what it waits for. */
export function contractTable(rows: readonly ContractRow[], covers: readonly Cover[]): string {
  const tables = [...new Set(rows.map((row) => row.table))];
  const waiting = rows.filter((row) => row.waits !== undefined).length;
  return [
    "# Contract",
    "",
    "Which scenario covers which row of the contract's tables. Generated from `scenarios/`; do not edit:",
    "",
    "```",
    "node_modules/.bin/vitest run e2e/src/scenarios/contract.test.ts -u",
    "```",
    "",
    `${rows.length} rows: ${rows.length - waiting} have scenarios, ${waiting} wait for a feature.`,
    ...tables.flatMap((table) => {
      const own = rows.filter((row) => row.table === table);
      const lines = own.map((row) => `| \`${keyOf(row)}\` | ${cell(row.text)} | ${coverage(row, covers)} |`);
      return ["", `## ${table}`, "", "| row | what | covered by |", "|---|---|---|", ...lines];
    }),
    "",
  ].join("\n");
}

function keyOf(row: ContractRow): string {
  return row.id.slice(row.table.length + 1);
}

function coverage(row: ContractRow, covers: readonly Cover[]): string {
  if (row.waits !== undefined) return `*waits for ${cell(row.waits)}*`;
  const own = covers.filter((one) => one.row === row.id);
  const files = [...new Set(own.map((one) => one.file))];
  return files
    .map((file) => {
      const names = own.filter((one) => one.file === file).map((one) => one.name);
      const shown = names.length > NAMES_SHOWN_MAX ? [`${names.length} scenarios`] : names;
      return `[${file.replace(/^scenarios\//, "").replace(/\.yaml$/, "")}](${file}): ${shown.map((name) => cell(name.replace(/\$\{\w+\}/g, "…"))).join("; ")}`;
    })
    .join("<br>");
}

const NAMES_SHOWN_MAX = 4;

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ");
}
