import { describe, expect, it } from "vitest";
import { AuditCounts } from "./audit-counts.js";

const fields = (action: string) => () => ({ action, outcome: "denied" as const });

describe("counts of events", () => {
  it("are one for each kind, and are taken in the order of their first events", () => {
    const counts = new AuditCounts();
    counts.of("a", 1, "x", fields("A")).requests++;
    counts.of("b", 2, "y", fields("B")).requests++;
    counts.of("a", 3, "x", fields("never asked")).requests++;
    expect(
      counts.take().map(({ fields, requests, firstMs, lastMs }) => [fields.action, requests, firstMs, lastMs]),
    ).toEqual([
      ["A", 2, 1, 3],
      ["B", 1, 2, 2],
    ]);
    expect(counts.isEmpty).toBe(true);
  });

  it("of one address are taken without those of others, but with those of no address", () => {
    const counts = new AuditCounts();
    for (const address of ["x", "y", undefined]) counts.of(String(address), 1, address, fields(String(address)));
    expect(counts.take("x").map(({ fields }) => fields.action)).toEqual(["x", "undefined"]);
    expect(counts.take().map(({ fields }) => fields.action)).toEqual(["y"]);
  });

  it("do not become more than there may be, whatever strangers think of", () => {
    const counts = new AuditCounts(3);
    for (let i = 0; i < 1_000; i++) counts.of(`kind ${i}`, i, `address ${i}`, fields(`${i}`)).requests++;
    const taken = counts.take();
    expect(taken.length).toBe(4);
    expect(taken.reduce((sum, { requests }) => sum + requests, 0)).toBe(1_000);
    expect(taken.at(-1)?.fields).toEqual({ action: "others", outcome: "denied" });
  });
});
