import { ShoalError } from "@shoal/model";

/** Whose index it is, for messages. */
export interface IndexPlace {
  readonly className: string;
  readonly shardName: string;
}

export function damaged(place: IndexPlace, property: string, reason: string, cause?: unknown): ShoalError {
  return new ShoalError(
    "dataLoss",
    `the index of property '${property}' in shard '${place.shardName}' of class '${place.className}' is damaged: ${reason}`,
    { cause },
  );
}

/** An error of the store, with the property named when it is about a damaged record. */
export function withPlace(place: IndexPlace, property: string, thrown: unknown): ShoalError {
  const error = ShoalError.from(thrown);
  return error.code === "dataLoss" ? damaged(place, property, error.message, error) : error;
}

/** The error for a property that the inverted index does not have. */
export function notIndexed(property: string): ShoalError {
  return new ShoalError(
    "invalid",
    `property '${property}' has no index: either its indexInverted is false, or values of its data type are not indexed`,
  );
}
