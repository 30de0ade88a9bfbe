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
 * The first JSON value of `bytes`, parsed in one go; what follows it is ignored (reference-rest 1.4). Fails with `invalid` on
 * an empty body, with `malformed` on what is no JSON or nested too deep, with `tooLarge` on what holds more than a body
 * about one thing may or has more bytes than are parsed in one go.
 */
export function parseJson(bytes: Buffer): { readonly value: unknown; readonly text: string } {
  refuseLength(bytes.length);
  const scan = scanJson(bytes, ONE_BODY);
  if ("problem" in scan) throw noJson(bytes, scan.problem, JSON_DEPTH_MAX);
  const text = bytes.toString("utf8", 0, scan.end);
  return { value: JSON.parse(text), text };
}

/** Fails on bytes that could hurt a parser: with `malformed` on their nesting, with `tooLarge` on what they hold. */
export function refuseCostlyJson(bytes: Buffer): void {
  if (bytes.length <= UNCOUNTED_BYTES_MAX) return;
  const scan = scanJson(bytes, ONE_BODY);
  if ("problem" in scan && scan.problem.expected === "tooDeep") throw tooDeep(JSON_DEPTH_MAX);
}

/**
 * As {@link parseJson}, with numbers whose literal matters as JsonNumber: `1.0`, `1e2`, integers beyond 2^53, `1e400`; or
 * with such integers alone. Takes more than twice the time.
 */
export function parseJsonExactly(bytes: Buffer, kept: "integers" | "all" = "all"): unknown {
  const scanner = new JsonScanner(bytes, JSON_DEPTH_MAX);
  const group = new ItemGroup(bytes, 0, 0);
  for (;;) {
    const token = scanner.next(Number.POSITIVE_INFINITY);
    if (token === "problem") throw noJson(bytes, scanner.problem, JSON_DEPTH_MAX);
    if (token === "end") break;
    if (token !== "number") continue;
    const lost = lostAsNumber(bytes, scanner.start, scanner.at);
    if (lost === "integer" || (lost === "form" && kept === "all")) group.keepLiteral(scanner.start, scanner.at);
  }
  refuseSize("the request body", scanner, ONE_BODY);
  return group.parse(scanner.at)[0];
}

/**
 * The same value again, with integers that a plain number cannot hold as JsonNumber; all other numbers stay plain.
 * `value` itself when it has none. Only for texts that {@link parseJson} has accepted.
 */
export function withExactIntegers(value: unknown, text: string): unknown {
  return holdsLongInteger(value) ? parseJsonExactly(Buffer.from(text), "integers") : value;
}

/** Whether a number may be an integer beyond 2^53, or is beyond float64. */
function holdsLongInteger(value: unknown): boolean {
  if (typeof value === "number") {
    return !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value));
  }
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.some(holdsLongInteger) : Object.values(value).some(holdsLongInteger);
}

/**
 * Where the first JSON value of a text ends, or what is wrong with it; nothing is made of it. Fails with `tooLarge` when it
 * holds more than `size`.
 */
export function scanJson(bytes: Buffer, size: JsonSize): { readonly end: number } | { readonly problem: JsonProblem } {
  const scanner = new JsonScanner(bytes, JSON_DEPTH_MAX);
  for (let pauseAt = LOOK_BYTES; ; ) {
    const token = scanner.next(pauseAt);
    if (token === "problem") return { problem: scanner.problem };
    if (token !== "pause" && token !== "end") continue;
    refuseSize("the request body", scanner, size);
    if (token === "end") return { end: scanner.at };
    pauseAt = scanner.at + LOOK_BYTES;
  }
}
