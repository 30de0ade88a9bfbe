import { JsonNumber } from "@shoal/model";
import { type JsonSize, nestsDeeperThan, ONE_BODY, refuseHeavyJson, refuseLength } from "./json-size.js";
import { parseExactly } from "./parse-exactly.js";
import { scanJson } from "./scan-json.js";
import { noJson, tooDeep } from "./scan-problem.js";

/** Deeper bodies are refused, so that what walks a parsed body may recurse. */
export const JSON_DEPTH_MAX = 200;

/**
 * The first JSON value of `bytes`; what follows it is ignored (reference-rest 1.4). Fails with `invalid` on an empty body,
 * with `malformed` on what is no JSON or nested too deep, with `tooLarge` on what holds more than `size` or has more bytes
 * than are parsed in one go.
 */
export function parseJson(
  bytes: Buffer,
  size: JsonSize = ONE_BODY,
): { readonly value: unknown; readonly text: string } {
  refuseLength(bytes.length);
  refuseCostlyJson(bytes, size);
  const text = bytes.toString("utf8");
  return { value: parseJsonText(text), text };
}

/** As {@link parseJson}, for a text made of bytes that {@link refuseCostlyJson} has seen. */
export function parseJsonText(text: string): unknown {
  const value = parseFirstValue(text);
  if (isDeeperThan(value, JSON_DEPTH_MAX)) throw tooDeep(JSON_DEPTH_MAX);
  return value;
}

/** Fails on bytes that could hurt the parser: with `malformed` on their nesting, with `tooLarge` on what they hold. */
export function refuseCostlyJson(bytes: Buffer, size: JsonSize): void {
  if (nestsDeeperThan(bytes, JSON_DEPTH_MAX)) throw tooDeep(JSON_DEPTH_MAX);
  refuseHeavyJson(bytes, size);
}

/**
 * The same text again, with numbers whose literal matters as JsonNumber: `1.0`, `1e2`, integers beyond 2^53, `1e400`.
 * Only for texts that {@link parseJson} has accepted.
 */
export function parseJsonExactly(text: string): unknown {
  return parseExactly(text, exactNumber);
}

/**
 * The same value again, with integers that a plain number cannot hold as JsonNumber; all other numbers stay plain.
 * `value` itself when the text has none. Only for texts that {@link parseJson} has accepted.
 */
export function withExactIntegers(value: unknown, text: string): unknown {
  if (!LONG_INTEGER.test(text)) return value;
  return parseExactly(text, exactInteger);
}

/** A literal that may be an integer beyond 2^53, which has 16 digits. */
const LONG_INTEGER = /[[:,]\s*-?[1-9]\d{15,}\s*[\],}]/;

function exactInteger(literal: string): number | JsonNumber {
  const value = Number(literal);
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(literal) ? value : new JsonNumber(literal);
}

function exactNumber(literal: string): number | JsonNumber {
  const value = Number(literal);
  if (!Number.isFinite(value)) return new JsonNumber(literal, value);
  if (!Number.isInteger(value)) return value;
  return Number.isSafeInteger(value) && /^-?\d+$/.test(literal) ? value : new JsonNumber(literal, value);
}

function parseFirstValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const bytes = Buffer.from(text);
    const scan = scanJson(bytes, JSON_DEPTH_MAX);
    if ("end" in scan) return JSON.parse(bytes.toString("utf8", 0, scan.end));
    throw noJson(bytes, scan.problem, JSON_DEPTH_MAX);
  }
}

/** Whether arrays and objects nest more than `limit` levels. Recurses no deeper than that. */
function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      if (typeof item === "object" && isDeeperThan(item, limit - 1)) return true;
    }
    return false;
  }
  for (const item of Object.values(value)) {
    if (typeof item === "object" && isDeeperThan(item, limit - 1)) return true;
  }
  return false;
}
