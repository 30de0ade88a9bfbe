import type { Stats } from "node:fs";
import { ShoalError } from "@shoal/model";

/** Fails with `invalid`, in words that follow the name of a file, when it is no regular one. */
export function refuseIrregular(stats: Stats): void {
  if (!stats.isFile()) throw new ShoalError("invalid", `it is ${kindOf(stats)}, not a regular file`);
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  return "a device";
}
