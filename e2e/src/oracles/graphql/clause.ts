export type ValueField = "valueInt" | "valueNumber" | "valueBoolean" | "valueString" | "valueText" | "valueDate";

export interface CombinedClause {
  readonly operator: "And" | "Or" | "Not";
  readonly operands: readonly Clause[];
}

export interface ValueClause {
  readonly operator:
    | ("Equal" | "NotEqual" | "GreaterThan" | "GreaterThanEqual" | "LessThan" | "LessThanEqual" | "Like")
    | ("ContainsAny" | "ContainsAll" | "IsNull");
  readonly path: readonly string[];
  readonly field: ValueField;
  /** A list for `ContainsAny` and `ContainsAll`. */
  readonly value: unknown;
}

export interface GeoClause {
  readonly operator: "WithinGeoRange";
  readonly path: readonly string[];
  readonly latitude: number;
  readonly longitude: number;
  /** Metres. */
  readonly max: number;
}

/** A where-filter as a client writes it. */
export type Clause = CombinedClause | ValueClause | GeoClause;

/** The clause as the value of a GraphQL variable. */
export function clauseJson(clause: Clause): Readonly<Record<string, unknown>> {
  if ("operands" in clause) return { operator: clause.operator, operands: clause.operands.map(clauseJson) };
  const { operator, path } = clause;
  if ("field" in clause) return { operator, path, [clause.field]: clause.value };
  const { latitude, longitude, max } = clause;
  return { operator, path, valueGeoRange: { geoCoordinates: { latitude, longitude }, distance: { max } } };
}

/** The clause as a GraphQL literal. */
export function clauseText(clause: Clause): string {
  return literal(clauseJson(clause));
}

function literal(value: unknown, name = ""): string {
  if (name === "operator") return String(value);
  if (Array.isArray(value)) return `[${value.map((one) => literal(one)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${key}: ${literal(one, key)}`)
    .join(", ")}}`;
}

/** Clauses with less in them, which may show the same fault. */
export function smallerClauses(clause: Clause): readonly Clause[] {
  if (!("operands" in clause)) return shorterValues(clause);
  const { operator, operands } = clause;
  const fewer = operands.length > 1 ? operands.map((_, at) => operands.filter((__, other) => other !== at)) : [];
  const simpler = operands.flatMap((operand, at) =>
    smallerClauses(operand).map((one) => operands.map((other, place) => (place === at ? one : other))),
  );
  return [...operands, ...[...fewer, ...simpler].map((list) => ({ operator, operands: list }))];
}

function shorterValues(clause: ValueClause | GeoClause): readonly Clause[] {
  if (!("field" in clause)) return [];
  const { value } = clause;
  if (Array.isArray(value) && value.length > 1) {
    return value.map((_, at) => ({ ...clause, value: value.filter((__, other) => other !== at) }));
  }
  if (typeof value !== "string" || clause.field === "valueDate") return [];
  const words = value.split(" ");
  return words.length < 2
    ? []
    : words.map((_, at) => ({ ...clause, value: words.filter((__, other) => other !== at).join(" ") }));
}
