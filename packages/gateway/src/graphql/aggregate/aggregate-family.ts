import { primitiveDataType } from "@shoal/model";

/** What an Aggregate tells of the values of a property (reference-graphql 4.2). */
export type AggregateFamily = "numbers" | "texts" | "booleans" | "dates" | "references";

/** The family of a data type; undefined for coordinates and phone numbers, which an Aggregate knows nothing of. */
export function aggregateFamily(dataType: readonly string[]): AggregateFamily | undefined {
  const primitive = primitiveDataType(dataType);
  switch (primitive?.replace("[]", "")) {
    case undefined:
      return "references";
    case "int":
    case "number":
      return "numbers";
    case "string":
    case "text":
    case "blob":
      return "texts";
    case "boolean":
      return "booleans";
    case "date":
      return "dates";
    default:
      return undefined;
  }
}

/** What the field `type` of a property answers. */
export function aggregateTypeText(dataType: readonly string[]): string {
  return primitiveDataType(dataType) ?? "cref";
}
