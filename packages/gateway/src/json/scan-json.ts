import { JsonScanner } from "./json-scanner.js";
import type { JsonProblem } from "./scan-problem.js";

/** Where the first JSON value of a text ends, or what is wrong with it. */
export type JsonScan = { readonly end: number } | { readonly problem: JsonProblem };

/** Reads the first JSON value of `bytes` without building it; what follows is ignored, as the reference does. */
export function scanJson(bytes: Buffer, depthMax: number): JsonScan {
  const scanner = new JsonScanner(bytes, depthMax);
  for (;;) {
    const token = scanner.next(Number.POSITIVE_INFINITY);
    if (token === "end") return { end: scanner.at };
    if (token === "problem") return { problem: scanner.problem };
  }
}
