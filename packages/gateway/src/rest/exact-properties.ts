import type { ObjectInput } from "@shoal/ingest";
import { isUncheckedObject } from "@shoal/model";
import { parseJsonExactly } from "../json/parse-json.js";

type Inputs = readonly (ObjectInput | undefined)[];

/**
 * The end of a number literal that may be no plain integer although its value is one, with what follows a number, so
 * that the digits of uuids do not count:
 * - `1.0`, `1e2`, `10e-1`, `5e-0`;
 * - so near to an integer that a double cannot tell: zeros or nines behind the point (at most eight digits before it, so
 *   at least seven of them), or nine and more digits before it;
 * - so near to zero that a double cannot tell: an exponent of three digits;
 * - a negative exponent behind more than one digit, as in `299999999999999999999e-20`.
 */
const DISGUISED_INTEGER = new RegExp(
  `(?:${[
    "\\.0+",
    "[0-9][eE]\\+?[0-9]+",
    "0[eE]-[0-9]+",
    "[eE]-(?:0+|[0-9]{3,})",
    "\\.(?:0{6}|9{6})[0-9]*(?:[eE]-[0-9]+)?",
    "[0-9]{9}\\.[0-9]+(?:[eE]-[0-9]+)?",
    "(?<![.0-9])[0-9]{2,}(?:\\.[0-9]+)?[eE]-[0-9]+",
  ].join("|")})\\s*[,\\]}]`,
);

/** A vector as it stands in a body. A quote inside of a JSON string is escaped, so this only matches members. */
const VECTOR_MEMBER = /"vector"(\s*:\s*)\[[^[\]"{}]*\]/gi;

/**
 * The literal of a number matters inside of properties (`1.0` is no int, 2^53 + 1 must not change), but the parser that
 * keeps literals is slow. So the text is parsed again only when a property holds an integer and the text holds a
 * literal that a plain number cannot stand for; vectors, which are full of exponents, do not count.
 * `readExact` reads the inputs from the exactly parsed body.
 */
export function withExactProperties(text: string, inputs: Inputs, readExact: (value: unknown) => Inputs): Inputs {
  let integers: IntegerKind = "none";
  for (const input of inputs) {
    integers = worse(integers, integersIn(input?.properties));
    if (integers === "beyond float64") break;
  }
  if (integers === "none") return inputs;
  if (integers === "safe" && !DISGUISED_INTEGER.test(text)) return inputs;
  const hidesVectors = !inputs.some((input) => hasVectorProperty(input?.properties));
  const rest = hidesVectors ? text.replace(VECTOR_MEMBER, '"vector"$1null') : text;
  if (integers === "safe" && !DISGUISED_INTEGER.test(rest)) return inputs;
  const exact = readExact(parseJsonExactly(rest));
  return inputs.map((input, at) => input && { ...input, properties: exact[at]?.properties });
}

/** What integers a value holds: none, only such that a plain number holds exactly, or others (also infinite ones). */
type IntegerKind = "none" | "safe" | "beyond float64";

function worse(a: IntegerKind, b: IntegerKind): IntegerKind {
  return a === "beyond float64" || b === "none" ? a : b;
}

/** Recurses as deep as the value, which the parser has bounded. */
function integersIn(value: unknown): IntegerKind {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return "safe";
    return Number.isInteger(value) || !Number.isFinite(value) ? "beyond float64" : "none";
  }
  if (typeof value !== "object" || value === null) return "none";
  let kind: IntegerKind = "none";
  for (const item of Array.isArray(value) ? value : Object.values(value)) kind = worse(kind, integersIn(item));
  return kind;
}

function hasVectorProperty(properties: unknown): boolean {
  if (typeof properties !== "object" || properties === null) return false;
  if (isUncheckedObject(properties) && Object.keys(properties).some((key) => key.toLowerCase() === "vector"))
    return true;
  return Object.values(properties).some(hasVectorProperty);
}
