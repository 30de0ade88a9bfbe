import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NO_FIGURES, type RowFigures } from "./figures.js";
import { isMet, ratioOf, resultLine, writeJson } from "./report.js";
import type { Row } from "./row.js";

const row: Row = {
  id: "H1",
  group: "H1",
  operation: "search",
  target: 320,
  figure: "cpuMicros",
  recallMin: 0.95,
  byDefault: true,
  needsOwnServer: false,
  run: async () => NO_FIGURES,
};
const withFigures = (figures: Partial<RowFigures>) => ({ row, figures: { ...NO_FIGURES, ...figures } });

describe("a result", () => {
  it("meets its target by the figure and by the recall", () => {
    expect(isMet(withFigures({ cpuMicros: 320, recall: 0.95 }))).toBe(true);
    expect(isMet(withFigures({ cpuMicros: 321, recall: 0.95 }))).toBe(false);
    expect(isMet(withFigures({ cpuMicros: 100, recall: 0.949 }))).toBe(false);
    expect(isMet(withFigures({ cpuMicros: 100 }))).toBe(false);
    expect(isMet(withFigures({ recall: 1 }))).toBe(false);
    expect(ratioOf(withFigures({ cpuMicros: 160 }))).toBe(0.5);
  });

  it("may bring its own target", () => {
    const result = {
      row: { ...row, target: null, figure: "p99Ms" as const },
      figures: { ...NO_FIGURES, p99Ms: 5, target: 10 },
    };
    expect(ratioOf(result)).toBe(0.5);
    expect(resultLine(result)).toContain("0.50");
  });

  it("tells when the host took a good part of the processors, beside what it has to tell", () => {
    expect(resultLine(withFigures({ stolenShare: 0.004 }))).not.toContain("(");
    expect(resultLine(withFigures({ stolenShare: 0.114 }))).toMatch(/ {2}\(the host took 11 % of the processors\)$/);
    expect(resultLine(withFigures({ stolenShare: 0.9, note: "n" }))).toMatch(
      /\(n; the host took 90 % of the processors\)$/,
    );
  });

  it("is written as JSON with exactly the agreed members", () => {
    const folder = mkdtempSync(join(tmpdir(), "shoal-report-"));
    try {
      const path = join(folder, "out.json");
      writeJson(path, [withFigures({ cpuMicros: 99.5, recall: 0.96, note: "not in the file" })]);
      expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
        results: [
          {
            id: "H1",
            operation: "search",
            cpuMicros: 99.5,
            target: 320,
            recall: 0.96,
            requestsPerSecond: null,
            p50Ms: null,
            p99Ms: null,
            residentMb: null,
          },
        ],
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
