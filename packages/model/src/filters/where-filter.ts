import type { ObjectId } from "../objects/object-id.js";

/** How a property's values are compared; reference-graphql 5.3, and as additions `ContainsAny`, `ContainsAll`, `IsNull`. */
export const COMPARE_OPERATORS = [
  "Equal",
  "NotEqual",
  "GreaterThan",
  "GreaterThanEqual",
  "LessThan",
  "LessThanEqual",
  "Like",
  "WithinGeoRange",
  "ContainsAny",
  "ContainsAll",
  "IsNull",
] as const;

export type CompareOperator = (typeof COMPARE_OPERATORS)[number];

export const COMBINE_OPERATORS = ["And", "Or", "Not"] as const;

export type CombineOperator = (typeof COMBINE_OPERATORS)[number];

/** A circle on the sphere. */
export interface GeoRange {
  /** Degrees, -90 to 90. */
  readonly latitude: number;
  /** Degrees, -180 to 180. */
  readonly longitude: number;
  /** Metres, from 0. */
  readonly distanceMax: number;
}

/**
 * What a property is compared with. The kind is that of the value field (`valueText`, …), and decides how a text is cut
 * into tokens, whatever the property's type is (reference-graphql 5.2). `ContainsAny` and `ContainsAll` carry several
 * values, all other operators one; `IsNull` a boolean.
 */
export type FilterValue =
  /** Whole numbers up to int64, beyond 2^53 the nearest float64, as stored values are. */
  | { readonly kind: "int"; readonly values: readonly number[] }
  | { readonly kind: "number"; readonly values: readonly number[] }
  | { readonly kind: "boolean"; readonly values: readonly boolean[] }
  | { readonly kind: "string" | "text"; readonly values: readonly string[] }
  /** Nanoseconds since 1970. */
  | { readonly kind: "date"; readonly values: readonly bigint[] }
  | { readonly kind: "geoRange"; readonly values: readonly GeoRange[] };

/** And, Or: of one or more operands. Not: everything but the conjunction of its operands. */
export interface CombinedFilter {
  readonly operator: CombineOperator;
  readonly operands: readonly WhereFilter[];
}

export interface ComparedPath {
  readonly operator: CompareOperator;
  /** A property, or `reference, Class, …, property`; `id`, `_creationTimeUnix`, `_lastUpdateTimeUnix` are special. */
  readonly path: readonly string[];
  readonly value: FilterValue;
}

/** A where-filter as clients write it, parsed; free of GraphQL and JSON. */
export type WhereFilter = CombinedFilter | ComparedPath;

/** Special properties that every object has. */
export const ID_PROPERTY = "id";
export const CREATION_TIME_PROPERTY = "_creationTimeUnix";
export const LAST_UPDATE_TIME_PROPERTY = "_lastUpdateTimeUnix";

/** A filter as a shard gets it: about its own objects only, references already resolved to ids. */
export type ShardFilter =
  | { readonly operator: CombineOperator; readonly operands: readonly ShardFilter[] }
  | { readonly operator: CompareOperator; readonly property: string; readonly value: FilterValue }
  /** Objects whose reference property points to at least one of the ids; sorted ascending, without doubles. */
  | { readonly operator: "RefersTo"; readonly property: string; readonly targets: readonly ObjectId[] };
