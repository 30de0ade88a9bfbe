import { ItemGroup } from "./item-group.js";
import { JsonScanner } from "./json-scanner.js";
import { type JsonSize, ONE_BODY, refuseLength, refuseSize } from "./json-size.js";
import { lostAsNumber } from "./number-literal.js";
import { type JsonProblem, noJson, tooDeep } from "./scan-problem.js";

/** Deeper bodies are refused, so that what walks a parsed body may recurse. */
export const JSON_DEPTH_MAX = 200;

/** Smaller bodies cannot hold enough to hurt. */
const UNCOUNTED_BYTES_MAX = 256 * 1024;

/** What a text holds is looked at whenever so much of it was read. */
const LOOK_BYTES = 32 * 1024;

/**
 * The first JSON value of `bytes`, parsed in one go; what follows it is ignored (reference-rest 1.4). Numbers whose literal matters
 * are JsonNumber where they are kept: `integers` beyond 2^53, or `all` such, which `1.0`, `1e2` and `1e400` are, too. Fails with
 * `invalid` on an empty body, with `malformed` on what is no JSON or nested too deep, with `tooLarge` on what holds more than a body
 * about one thing may or has more bytes than are parsed in one go.
 */
export function parseJson(bytes: Buffer, kept: "nothing" | "integers" | "all" = "nothing"): unknown {
  refuseLength(bytes.length);
  const group = new ItemGroup(bytes, 0, 0);
  const scan = scanJson(bytes, ONE_BODY, ({ start, at }) => {
    const lost = kept === "nothing" ? kept : lostAsNumber(bytes, start, at);
    if (lost === "integer" || (lost === "form" && kept === "all")) group.keepLiteral(start, at);
  });
  if ("problem" in scan) throw noJson(bytes, scan.problem, JSON_DEPTH_MAX);
  return group.parse(scan.end)[0];
}

/** Fails on bytes that could hurt a parser: with `malformed` on their nesting, with `tooLarge` on what they hold. */
export function refuseCostlyJson(bytes: Buffer): void {
  if (bytes.length <= UNCOUNTED_BYTES_MAX) return;
  const scan = scanJson(bytes, ONE_BODY);
  if ("problem" in scan && scan.problem.expected === "tooDeep") throw tooDeep(JSON_DEPTH_MAX);
}

/**
 * Where the first JSON value of a text ends, or what is wrong with it; nothing is made of it. Fails with `tooLarge` when it
 * holds more than `size`.
 */
export function scanJson(
  bytes: Buffer,
  size: JsonSize,
  onNumber?: (scanner: JsonScanner) => void,
): { readonly end: number } | { readonly problem: JsonProblem } {
  const scanner = new JsonScanner(bytes, JSON_DEPTH_MAX);
  for (let pauseAt = LOOK_BYTES; ; ) {
    const token = scanner.next(pauseAt);
    if (token === "problem") return { problem: scanner.problem };
    if (token === "number") onNumber?.(scanner);
    if (token !== "pause" && token !== "end") continue;
    refuseSize("the request body", scanner, size);
    if (token === "end") return { end: scanner.at };
    pauseAt = scanner.at + LOOK_BYTES;
  }
}
