import { ShoalError } from "./shoal-error.js";

/** `thrown` as a ShoalError of the same code with `prefix` before its message. */
export function withPrefix(prefix: string, thrown: unknown): ShoalError {
  const error = ShoalError.from(thrown);
  const { retryAfterSeconds } = error;
  return new ShoalError(error.code, prefix + error.message, {
    cause: error.cause ?? error,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
