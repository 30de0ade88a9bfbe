import { ShoalError } from "@shoal/model";

/** The reference's words for a property that the inverted index does not have (reference-graphql 5.1). */
export function notIndexed(property: string): ShoalError {
  return new ShoalError("invalid", `bucket for prop ${property} not found - is it indexed?`);
}
