import { JsonScanner } from "./json-scanner.js";

/** Where the first JSON value of a text ends, or what is wrong with it, in the words of the reference's decoder. */
export type JsonScan = { readonly end: number } | { readonly problem: string };

/** Reads the first JSON value of `bytes` without building it; what follows is ignored, as the reference does. */
export function scanJson(bytes: Buffer, depthMax: number): JsonScan {
  const scanner = new JsonScanner(bytes, depthMax);
  for (;;) {
    const token = scanner.next(Number.POSITIVE_INFINITY);
    if (token === "end") return { end: scanner.at };
    if (token === "problem") return { problem: scanner.problem };
  }
}
