import { type Json, jsonListParts, objectIdToBytes, ShoalError, targetsOfReferences } from "@shoal/model";
import type { Work, Yielder } from "@shoal/runtime";
import { type ColumnValue, columnValue } from "../records/column-chunk.js";
import { flagBit } from "./flags.js";
import { instantOf } from "./instant.js";
import { type IndexedProperty, isPresentByColumn } from "./property-kind.js";
import { isLongTerm, isWellFormed, longTermHash, STEP_CHARS, tokensInSteps, tokensOf } from "./tokens.js";
import { isUtcDate } from "./utc-date.js";

/** Steps that adding a token to a set takes, and looking at an element of a list: a text, and what has to be parsed. */
const TOKEN_STEPS = 60;
const TEXT_STEPS = 100;
const ELEMENT_STEPS = 400;

/** Longer values are looked at in parts. */
const PART_BYTES = 64 * 1024;
const OPEN_BRACKET = 0x5b;
/** Of `null`, the one stored value that is none. */
const NULL_START = 0x6e;

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

/** As {@link analyseValue}, in steps where texts or lists are long. `json`: the member of the stored properties. */
export function* analyseInSteps(
  property: IndexedProperty,
  json: Uint8Array | undefined,
  yielder: Yielder,
): Work<Analysis | undefined> {
  if (json === undefined || json.length <= PART_BYTES) return analyseValue(property, parsedMember(property, json));
  if (property.kind === "text") return yield* analyseTextsInSteps(property, json, yielder);
  if (property.kind === "presence" || json[0] !== OPEN_BRACKET)
    return analyseValue(property, parsedMember(property, json));
  return yield* analyseListInSteps(property, json, yielder);
}

/** Parts of a list say of it together what the whole says, but of texts. */
function* analyseListInSteps(property: IndexedProperty, json: Uint8Array, yielder: Yielder): Work<Analysis> {
  let flags = 0;
  let references = 0;
  const targets = new Set<string>();
  const values: number[] = [];
  const rests: number[] = [];
  for (const part of jsonListParts(json, PART_BYTES)) {
    const analysis = analyseValue(property, part) ?? NOTHING;
    flags |= analysis.flags;
    for (const target of analysis.targets) targets.add(target);
    const { column } = analysis;
    if (property.kind === "reference") references += part.length;
    else if (typeof column === "number") values.push(column);
    else if (column !== undefined) for (const value of column.values) values.push(value);
    for (let at = rests.length; at < values.length; at++) {
      const rest = typeof column === "object" ? column.rests?.[at - values.length + part.length] : undefined;
      rests.push(rest ?? 0);
    }
    yielder.count(part.length * ELEMENT_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
  const column = property.kind === "reference" ? references : columnValue(values, rests);
  return { ...NOTHING, flags, targets: [...targets], column };
}

function* analyseTextsInSteps(property: IndexedProperty, json: Uint8Array, yielder: Yielder): Work<Analysis> {
  const all = new Set<string>();
  const wholes = new Set<string>();
  let count = 0;
  let isRegular = true;
  let areShort = true;
  const parts = json[0] === OPEN_BRACKET ? jsonListParts(json, PART_BYTES) : [[parsed(json)]];
  for (const part of parts) {
    for (const element of part as readonly string[]) {
      const isLong = element.length > STEP_CHARS;
      const tokens = isLong
        ? yield* tokensInSteps(element, property.tokenization, yielder)
        : tokensOf(element, property.tokenization);
      count += 1;
      wholes.add(element);
      isRegular &&= tokens.length === 1 && tokens[0] === element;
      areShort &&= isShortWhole(element);
      yielder.count(TEXT_STEPS);
      for (const token of tokens) {
        all.add(token);
        yielder.count(TOKEN_STEPS);
        if (yielder.isDue) yield yielder.pause();
      }
    }
  }
  return analysisOfTexts({ all: [...all], wholes, count, isRegular, areShort: () => areShort });
}

/** Undefined when there is no value. `value` is in its stored form. Fails with `dataLoss` on what is not. */
export function analyseValue(property: IndexedProperty, value: Json | undefined): Analysis | undefined {
  if (value === undefined || value === null || property.kind === "none") return undefined;
  const elements = property.isArray && Array.isArray(value) ? (value as readonly Json[]) : [value];
  const presence = isPresentByColumn(property) ? 0 : PRESENT;
  switch (property.kind) {
    case "text":
      return analyseTexts(elements as readonly string[], (text) => tokensOf(text, property.tokenization));
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

function analyseTexts(elements: readonly string[], tokenize: Tokenize): Analysis {
  const [only] = elements;
  if (elements.length === 1 && only !== undefined) {
    const tokens = tokenize(only);
    if (tokens.length === 1 && tokens[0] === only && !isLongTerm(only)) return { ...NOTHING, flags: PRESENT, tokens };
  }
  return analysisOfTexts({
    all: allTokens(elements, tokenize),
    wholes: new Set(elements),
    count: elements.length,
    isRegular: elements.every((element) => {
      const tokens = tokenize(element);
      return tokens.length === 1 && tokens[0] === element;
    }),
    areShort: () => elements.every(isShortWhole),
  });
}

interface AnalysedTexts {
  /** Distinct tokens of all elements. */
  readonly all: readonly string[];
  /** The elements, distinct. */
  readonly wholes: ReadonlySet<string>;
  readonly count: number;
  /** Whether each element is its own only token. */
  readonly isRegular: boolean;
  readonly areShort: () => boolean;
}

function analysisOfTexts({ all, wholes, count, isRegular, areShort }: AnalysedTexts): Analysis {
  const long = all.filter(isLongTerm);
  const tokens = long.length === 0 ? all : all.filter((token) => !isLongTerm(token));
  const flags = PRESENT | (long.length === 0 ? 0 : flagBit("long"));
  const longTokens = long.map(longTermHash);
  if (isRegular && long.length === 0 && wholes.size === count) return { ...NOTHING, flags, tokens };
  const inIndex = wholes.size === count && areShort();
  if (inIndex) return { ...NOTHING, flags: flags | flagBit("irregular"), tokens, longTokens, wholes: [...wholes] };
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

/** What a value is does not matter where only its presence does: blobs may be long. */
export function parsedMember({ kind }: IndexedProperty, member: Uint8Array | undefined): Json | undefined {
  if (member === undefined) return undefined;
  return kind === "presence" && member[0] !== NULL_START ? true : parsed(member);
}

export function parsed(json: Uint8Array): Json {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString()) as Json;
}
