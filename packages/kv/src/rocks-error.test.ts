import { describe, expect, it } from "vitest";
import { openError, readError } from "./rocks-error.js";

describe("errors of RocksDB", () => {
  it.each([
    "IO error: While lock file: /d/rows/LOCK: Too many open files",
    "IO error: While open a file for random read: /d/rows/000012.sst: Too many open files",
    "EMFILE: too many open files, open '/d/rows'",
  ])("tell that the process has too many files open, and not that data is damaged or in use: %s", (message) => {
    for (const error of [openError("/d/rows", new Error(message)), readError("/d/rows", new Error(message))]) {
      expect(error).toMatchObject({
        code: "unavailable",
        message: `store /d/rows cannot open its files, this process has too many open (ulimit -n): ${message}`,
      });
    }
  });

  it("tell a store in use from a damaged one", () => {
    const locked = "IO error: lock /d/rows/LOCK: Resource temporarily unavailable";
    expect(openError("/d/rows", new Error(locked)).message).toContain("is in use by another process");
    expect(openError("/d/rows", new Error("Corruption: bad block")).code).toBe("dataLoss");
    expect(readError("/d/rows", new Error("IO error: While pread: Input/output error")).code).toBe("dataLoss");
  });
});
