import { describeValue, ShoalError } from "@shoal/model";

/**
 * The error for a member of the wrong JSON type. `path` is where it stands, such as `objects[3].class`; `wanted` is what it must
 * be, such as `a string`.
 */
export function wrongMember(value: unknown, path: string, wanted: string): ShoalError {
  return unreadable(`member '${path}' must be ${wanted}, got ${describeValue(value)}`);
}

/** The error for a whole body of the wrong JSON type. */
export function wrongBody(value: unknown, wanted: string): ShoalError {
  return unreadable(`it must be ${wanted}, got ${describeValue(value)}`);
}

/** The error for an element of the list that the body is. */
export function wrongElement(value: unknown, at: number, wanted: string): ShoalError {
  return unreadable(`element ${at} must be ${wanted}, got ${describeValue(value)}`);
}

function unreadable(reason: string): ShoalError {
  return new ShoalError("malformed", `the request body cannot be read: ${reason}`);
}
