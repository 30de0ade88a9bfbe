import type { ObjectInput } from "@shoal/ingest";
import { isUncheckedObject } from "@shoal/model";
import { holdsDisguisedInteger } from "../json/disguised-integer.js";
import { parseJsonExactly } from "../json/parse-json.js";

type Inputs = readonly (ObjectInput | undefined)[];

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
  if (integers === "safe" && !holdsDisguisedInteger(text)) return inputs;
  const hidesVectors = !inputs.some((input) => hasVectorProperty(input?.properties));
  const rest = hidesVectors ? text.replace(VECTOR_MEMBER, '"vector"$1null') : text;
  if (integers === "safe" && !holdsDisguisedInteger(rest)) return inputs;
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
