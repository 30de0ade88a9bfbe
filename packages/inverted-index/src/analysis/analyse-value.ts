import { type Json, objectIdToBytes, ShoalError, targetsOfReferences } from "@shoal/model";
import type { Work, Yielder } from "@shoal/runtime";
import { type ColumnValue, columnValue } from "../records/column-chunk.js";
import { flagBit } from "./flags.js";
import { instantOf } from "./instant.js";
import { type IndexedProperty, isPresentByColumn } from "./property-kind.js";
import { isLongTerm, isWellFormed, longTermHash, STEP_CHARS, tokensInSteps, tokensOf } from "./tokens.js";
import { isUtcDate } from "./utc-date.js";

/** Steps that adding a token to a set takes. */
const TOKEN_STEPS = 60;

/** Longer whole values are read from rows when they are asked for. */
const WHOLE_BYTES_MAX = 128;

/** What the index says of one value of a property. Lists are without doubles. */
export interface Analysis {
  /** Bits of flags. */
  readonly flags: number;
  readonly tokens: readonly string[];
  readonly longTokens: readonly string[];
  readonly wholes: readonly string[];
  readonly targets: readonly string[];
  readonly column: ColumnValue | undefined;
}

const NOTHING: Analysis = { flags: 0, tokens: [], longTokens: [], wholes: [], targets: [], column: undefined };

const PRESENT = flagBit("present");

type Tokenize = (text: string) => readonly string[];

/** As {@link analyseValue}, in steps where texts are long. */
export function* analyseInSteps(
  property: IndexedProperty,
  value: Json | undefined,
  yielder: Yielder,
): Work<Analysis | undefined> {
  const known = new Map<Json, readonly string[]>();
  const elements = Array.isArray(value) ? (value as readonly Json[]) : [value];
  for (const element of property.kind === "text" ? elements : []) {
    if (typeof element !== "string" || element.length <= STEP_CHARS) continue;
    known.set(element, yield* tokensInSteps(element, property.tokenization, yielder));
  }
  const tokenize: Tokenize = (text) => known.get(text) ?? tokensOf(text, property.tokenization);
  if (known.size === 0 || !Array.isArray(value) || value.length === 1) return analyseValue(property, value, tokenize);
  const all = new Set<string>();
  for (const element of elements) {
    for (const token of tokenize(element as string)) {
      all.add(token);
      yielder.count(TOKEN_STEPS);
      if (yielder.isDue) yield yielder.pause();
    }
  }
  return analyseTexts(value as readonly string[], tokenize, [...all]);
}

/** Undefined when there is no value. `value` is in its stored form. Fails with `dataLoss` on what is not. */
export function analyseValue(
  property: IndexedProperty,
  value: Json | undefined,
  tokenize: Tokenize = (text) => tokensOf(text, property.tokenization),
): Analysis | undefined {
  if (value === undefined || value === null || property.kind === "none") return undefined;
  const elements = property.isArray && Array.isArray(value) ? (value as readonly Json[]) : [value];
  const presence = isPresentByColumn(property) ? 0 : PRESENT;
  switch (property.kind) {
    case "text":
      return analyseTexts(elements as readonly string[], tokenize);
    case "number":
      return { ...NOTHING, flags: presence, column: columnValue(elements as readonly number[]) };
    case "boolean": {
      const flags = presence | (elements.includes(false) ? flagBit("false") : 0);
      const column = property.isArray ? columnValue(elements.map(Number)) : undefined;
      return { ...NOTHING, flags: flags | (elements.includes(true) ? flagBit("true") : 0), column };
    }
    case "date": {
      const instants = elements.map((element) => instantOf(String(element)));
      const column = columnValue(
        instants.map((instant) => instant.milliseconds),
        instants.map((instant) => instant.rest),
      );
      const isUtc = elements.every((element) => isUtcDate(String(element)));
      return { ...NOTHING, flags: presence | (isUtc ? 0 : flagBit("local")), column };
    }
    case "presence":
      return { ...NOTHING, flags: presence };
    case "geo":
      return { ...NOTHING, column: coordinates(value) };
    case "reference": {
      const targets = targetsOfReferences(value).map((id) => Buffer.from(objectIdToBytes(id)).toString("latin1"));
      return { ...NOTHING, targets: [...new Set(targets)], column: targets.length };
    }
  }
}

/** `distinct`: the tokens of all elements, when they are known. */
function analyseTexts(elements: readonly string[], tokenize: Tokenize, distinct?: readonly string[]): Analysis {
  const [only] = elements;
  if (elements.length === 1 && only !== undefined) {
    const tokens = tokenize(only);
    if (tokens.length === 1 && tokens[0] === only && !isLongTerm(only)) return { ...NOTHING, flags: PRESENT, tokens };
  }
  const all = distinct ?? allTokens(elements, tokenize);
  const isRegular = elements.every((element) => {
    const tokens = tokenize(element);
    return tokens.length === 1 && tokens[0] === element;
  });
  const long = all.filter(isLongTerm);
  const tokens = long.length === 0 ? all : all.filter((token) => !isLongTerm(token));
  const flags = PRESENT | (long.length === 0 ? 0 : flagBit("long"));
  const longTokens = long.map(longTermHash);
  const wholes = [...new Set(elements)];
  if (isRegular && long.length === 0 && wholes.length === elements.length) return { ...NOTHING, flags, tokens };
  const inIndex = wholes.length === elements.length && wholes.every(isShortWhole);
  if (inIndex) return { ...NOTHING, flags: flags | flagBit("irregular"), tokens, longTokens, wholes };
  return { ...NOTHING, flags: flags | flagBit("irregular") | flagBit("rows"), tokens, longTokens };
}

function allTokens(elements: readonly string[], tokenize: Tokenize): readonly string[] {
  const [only] = elements;
  if (elements.length === 1 && only !== undefined) return tokenize(only);
  const all = new Set<string>();
  for (const element of elements) for (const token of tokenize(element)) all.add(token);
  return [...all];
}

function isShortWhole(value: string): boolean {
  return value.length <= WHOLE_BYTES_MAX && Buffer.byteLength(value) <= WHOLE_BYTES_MAX && isWellFormed(value);
}

function coordinates(value: Json): ColumnValue {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const { latitude, longitude } = value as { readonly [name: string]: Json };
    if (typeof latitude === "number" && typeof longitude === "number") {
      return { values: [latitude, longitude], rests: undefined };
    }
  }
  throw new ShoalError("dataLoss", "stored geoCoordinates have no latitude and longitude");
}
