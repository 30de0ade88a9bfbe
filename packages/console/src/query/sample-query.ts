import { type ClassInfo, isReferenceType } from "../objects/class-info.js";

/** What a first query shows of an object. */
const PROPERTIES_MAX = 6;
const ROWS = 10;

/** Properties whose values are objects need a selection of their own. */
const SELECTIONS: ReadonlyMap<string, string> = new Map([
  ["geoCoordinates", "{ latitude longitude }"],
  ["phoneNumber", "{ input internationalFormatted }"],
]);

/** A query that works at once: the first objects of a class. */
export function sampleQuery({ name, properties }: ClassInfo): string {
  const fields = properties
    .filter(({ dataType }) => !isReferenceType(dataType) && !dataType.includes("blob"))
    .slice(0, PROPERTIES_MAX)
    .map((property) => [property.name, SELECTIONS.get(property.dataType[0] ?? "")].filter(Boolean).join(" "));
  const lines = [...fields, "_additional { id }"].map((field) => `      ${field}`);
  return `{\n  Get {\n    ${name}(limit: ${ROWS}) {\n${lines.join("\n")}\n    }\n  }\n}`;
}
