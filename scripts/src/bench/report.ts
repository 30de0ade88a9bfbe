import { writeFileSync } from "node:fs";
import type { RowFigures } from "./figures.js";
import type { Row } from "./row.js";

export interface RowResult {
  readonly row: Row;
  readonly figures: RowFigures;
}

const COLUMNS = [
  { title: "id", width: 9 },
  { title: "operation", width: 44 },
  { title: "recall", width: 7 },
  { title: "req/s", width: 8 },
  { title: "p50 ms", width: 8 },
  { title: "p99 ms", width: 8 },
  { title: "CPU µs", width: 8 },
  { title: "RSS MB", width: 7 },
  { title: "target", width: 8 },
  { title: "ratio", width: 6 },
] as const;
const TEXT_COLUMNS = 2;
const STOLEN_SHARE_SHOWN = 0.01;

export function headLine(): string {
  const titles = line(COLUMNS.map((column) => column.title));
  return `${titles}\n${"-".repeat(titles.length)}`;
}

export function resultLine(result: RowResult): string {
  const { row, figures } = result;
  const target = targetOf(result);
  const ratio = ratioOf(result);
  const cells = line([
    row.id,
    row.operation,
    number(figures.recall, 4),
    number(figures.requestsPerSecond, 0),
    number(figures.p50Ms, 2),
    number(figures.p99Ms, 2),
    number(figures.cpuMicros, 1),
    number(figures.residentMb, 0),
    number(target, target !== null && target < 20 ? 1 : 0),
    number(ratio, 2),
  ]);
  const verdict = target === null ? "" : isMet(result) ? "  met" : "  MISSED";
  const notes = [figures.note, stolenText(figures.stolenShare)].filter((note) => note !== undefined);
  return `${cells}${verdict}${notes.length === 0 ? "" : `  (${notes.join("; ")})`}`;
}

function stolenText(share = 0): string | undefined {
  return share < STOLEN_SHARE_SHOWN ? undefined : `the host took ${(100 * share).toFixed(0)} % of the processors`;
}

function line(cells: readonly string[]): string {
  return cells
    .map((cell, index) => {
      const width = COLUMNS[index]?.width ?? 0;
      return index < TEXT_COLUMNS ? cell.padEnd(width) : cell.padStart(width);
    })
    .join(" ");
}

function number(value: number | null, decimals: number): string {
  return value === null || Number.isNaN(value) ? "–" : value.toFixed(decimals);
}

export function targetOf({ row, figures }: RowResult): number | null {
  return figures.target ?? row.target;
}

/** Measured figure over target: 1 or less meets it. Null without a target or without the figure. */
export function ratioOf(result: RowResult): number | null {
  const target = targetOf(result);
  const figure = result.figures[result.row.figure];
  return target === null || figure === null ? null : figure / target;
}

/** A target is met by a figure not above it, at the recall that goes with it. */
export function isMet(result: RowResult): boolean {
  const ratio = ratioOf(result);
  const { recallMin } = result.row;
  const { recall } = result.figures;
  return ratio !== null && ratio <= 1 && (recallMin === undefined || (recall !== null && recall >= recallMin));
}

/** `{"results":[{id, operation, cpuMicros, target, recall, requestsPerSecond, p50Ms, p99Ms, residentMb}]}`. */
export function writeJson(path: string, results: readonly RowResult[]): void {
  const entries = results.map((result) => {
    const { cpuMicros, recall, requestsPerSecond, p50Ms, p99Ms, residentMb } = result.figures;
    const { id, operation } = result.row;
    const target = targetOf(result);
    return { id, operation, cpuMicros, target, recall, requestsPerSecond, p50Ms, p99Ms, residentMb };
  });
  writeFileSync(path, `${JSON.stringify({ results: entries }, null, 2)}\n`);
}
