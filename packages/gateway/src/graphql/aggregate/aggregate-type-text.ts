import { primitiveDataType } from "@shoal/model";

/** What the field `type` of an aggregated property answers (reference-graphql 4.2). */
export function aggregateTypeText(dataType: readonly string[]): string {
  return primitiveDataType(dataType) ?? "cref";
}
