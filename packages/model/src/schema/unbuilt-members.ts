import { JsonNumber } from "../objects/json-number.js";
import { isUncheckedObject } from "../objects/value-wording.js";

/** So many copies of each object may be asked for. How many there can be, the coordinator says: one a storage node. */
export const FACTOR_MAX = 100;

/**
 * A member of today's class JSON (reference-today 5.2 to 5.5) whose feature this server does not have. A value that asks
 * for nothing is taken and shown again, so that a class with all defaults of the reference can be made here; any other one
 * is refused. Whoever builds the feature takes the member out of its table and into the schema of the body.
 */
export interface UnbuiltMember {
  /** Whether the value asks for nothing, or for what is there anyway. */
  readonly asksNothing: (value: unknown) => boolean;
  /** Such values in words, as `1 or 2`; undefined where only an empty one is. */
  readonly nothing?: string;
  /** What every value must be, where not every other one asks for something. */
  readonly type?: { readonly has: (value: unknown) => boolean; readonly words: string };
  /** What every other value asks for; undefined where it only is of the wrong type. */
  readonly feature?: string;
}

/** By name; a nested table is a section of its own. */
export interface UnbuiltMembers {
  readonly [name: string]: UnbuiltMember | UnbuiltMembers;
}

export function isUnbuiltMember(rule: UnbuiltMember | UnbuiltMembers): rule is UnbuiltMember {
  return typeof rule.asksNothing === "function";
}

type Scalar = string | number | boolean;

/** Only these values are taken. Numbers count by their value, however they are written. */
export function only(values: readonly Scalar[], feature: string): UnbuiltMember {
  const shown = values.filter((value) => value !== "").map((value) => JSON.stringify(value));
  return {
    asksNothing: (value) => values.includes((value instanceof JsonNumber ? value.toNumber() : value) as Scalar),
    ...(shown.length === 0 ? {} : { nothing: shown.join(" or ") }),
    feature,
  };
}

/** Neither members nor elements. */
function empty(feature: string): UnbuiltMember {
  return {
    asksNothing: (value) =>
      Array.isArray(value) ? value.length === 0 : isUncheckedObject(value) && Object.keys(value).length === 0,
    feature,
  };
}

/** Settings of a feature that is off: any value of the type will do. */
const NUMBER: UnbuiltMember = {
  asksNothing: (value) => Number.isFinite(value instanceof JsonNumber ? value.toNumber() : value),
  nothing: "a number",
};
const TEXT_CHARS_MAX = 256;
const TEXT: UnbuiltMember = {
  asksNothing: (value) => typeof value === "string" && value.length <= TEXT_CHARS_MAX,
  nothing: `a text of at most ${TEXT_CHARS_MAX} characters`,
};
const TRUTH: UnbuiltMember = {
  asksNothing: (value) => typeof value === "boolean",
  nothing: "true or false",
};

const COUNT: NonNullable<UnbuiltMember["type"]> = {
  has(value) {
    const number = value instanceof JsonNumber ? value.toNumber() : value;
    return Number.isInteger(number) && (number as number) >= 1;
  },
  words: "a whole number of at least 1",
};

/** The factor; one that is taken has an effect all the same (`class-body.ts`). 0 is none. */
const FACTOR: UnbuiltMember = {
  ...only(
    Array.from({ length: FACTOR_MAX + 1 }, (_, factor) => factor),
    `more than ${FACTOR_MAX} copies of each object`,
  ),
  nothing: `a factor from 1 to ${FACTOR_MAX}`,
  type: COUNT,
};

const QUANTIZER = { rescoreLimit: NUMBER, cache: TRUTH, trainingLimit: NUMBER, bits: NUMBER };

/** Of `vectorIndexConfig`, beside `VECTOR_INDEX_CONFIG`. */
export const UNBUILT_VECTOR_INDEX_MEMBERS: UnbuiltMembers = {
  distance: only(["cosine", ""], "another distance than cosine"),
  dynamicEfMin: only([100], "bounds of the automatic ef of your own (set `ef` for a fixed one)"),
  dynamicEfMax: only([500], "bounds of the automatic ef of your own (set `ef` for a fixed one)"),
  dynamicEfFactor: only([8], "a factor of the automatic ef of your own (set `ef` for a fixed one)"),
  filterStrategy: only(["acorn", "sweeping", ""], "another way to search with filters"),
  pq: {
    enabled: only([false], "product quantization"),
    ...QUANTIZER,
    bitCompression: TRUTH,
    segments: NUMBER,
    centroids: NUMBER,
    encoder: { type: TEXT, distribution: TEXT },
  },
  bq: { enabled: only([false], "binary quantization"), ...QUANTIZER },
  sq: { enabled: only([false], "scalar quantization"), ...QUANTIZER },
  rq: { enabled: only([false], "rotational quantization"), ...QUANTIZER },
  multivector: {
    enabled: only([false], "several vectors an object"),
    muvera: {
      enabled: only([false], "several vectors an object, encoded as one"),
      ksim: NUMBER,
      dprojections: NUMBER,
      repetitions: NUMBER,
    },
    aggregation: TEXT,
  },
  skipDefaultQuantization: TRUTH,
  trackDefaultQuantization: TRUTH,
};

const KEYWORDS = "keyword search with constants of your own";

/** Of `invertedIndexConfig`. Filters by null and by time work without being asked for. */
export const UNBUILT_INVERTED_INDEX_MEMBERS: UnbuiltMembers = {
  bm25: { b: only([0.75], KEYWORDS), k1: only([1.2], KEYWORDS) },
  stopwords: {
    preset: only(["en", "none", ""], "another list of stopwords"),
    additions: empty("stopwords of your own"),
    removals: empty("stopwords of your own"),
  },
  stopwordPresets: empty("stopwords of your own"),
  indexTimestamps: TRUTH,
  indexNullState: TRUTH,
  indexPropertyLength: only([false], "filters by the length of a value"),
  usingBlockMaxWAND: TRUTH,
  tokenizerUserDict: empty("a dictionary of your own for tokenizers"),
};

/** Of the class itself. */
export const UNBUILT_CLASS_MEMBERS: UnbuiltMembers = {
  multiTenancyConfig: {
    enabled: only([false], "tenants that are kept apart"),
    autoTenantCreation: only([false], "tenants that are kept apart"),
    autoTenantActivation: only([false], "tenants that are kept apart"),
  },
  objectTtlConfig: {
    enabled: only([false], "objects that expire"),
    defaultTtl: NUMBER,
    deleteOn: TEXT,
    filterExpiredObjects: TRUTH,
  },
  replicationConfig: {
    factor: FACTOR,
    asyncEnabled: only([false], "copies that lag behind and are compared later"),
    asyncConfig: empty("copies that lag behind and are compared later"),
    deletionStrategy: only(["TimeBasedResolution", "NoAutomatedResolution", ""], "another way to settle deletions"),
  },
  vectorConfig: empty("named vectors"),
};

const NO_INDEX = "another index of the property than `indexInverted` asks for";

const WORD_TYPES: ReadonlySet<string> = new Set(["text", "text[]"]);
const SPACE_TYPES: ReadonlySet<string> = new Set(["string", "string[]"]);
const RANGE_TYPES: ReadonlySet<string> = new Set(["int", "number", "date"]);

/**
 * Of a property, by its data type: `text` is cut into words and `string` at white space; `indexInverted` says whether it can
 * be filtered by, ranges included.
 */
export function unbuiltPropertyMembers(
  dataType: readonly string[],
  indexInverted: boolean | undefined,
): UnbuiltMembers {
  const [type = ""] = dataType;
  const isText = WORD_TYPES.has(type) || SPACE_TYPES.has(type);
  const isIndexed = indexInverted !== false;
  return {
    indexFilterable: only(
      [isIndexed],
      isIndexed ? "a property without filters (set `indexInverted` to false)" : NO_INDEX,
    ),
    indexRangeFilters: only(
      isIndexed && RANGE_TYPES.has(type) ? [false, true] : [false],
      isIndexed ? `an index of ranges for the data type '${type}'` : NO_INDEX,
    ),
    indexSearchable: only(
      isIndexed && isText ? [true, false] : [false],
      isIndexed ? `keyword search in the data type '${type}'` : NO_INDEX,
    ),
    nestedProperties: empty("objects within objects"),
    textAnalyzer: empty("another analysis of texts"),
    tokenization: tokenization(type),
  };
}

function tokenization(type: string): UnbuiltMember {
  if (WORD_TYPES.has(type)) {
    return only(["word", ""], "other tokens than the words (the data type `string` is cut at white space)");
  }
  if (SPACE_TYPES.has(type)) return only(["whitespace", "word", ""], "other tokens than what is between white space");
  return only([""], `tokens of the data type '${type}'`);
}
