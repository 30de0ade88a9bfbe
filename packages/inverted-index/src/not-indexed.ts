import { ShoalError } from "@shoal/model";

/** The error for a property that the inverted index does not have. */
export function notIndexed(property: string): ShoalError {
  return new ShoalError(
    "invalid",
    `property '${property}' has no index: either its indexInverted is false, or values of its data type are not indexed`,
  );
}
