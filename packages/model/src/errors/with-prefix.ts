import { ShoalError, type ShoalErrorOptions } from "./shoal-error.js";
import { UnavailableHere } from "./unavailable-here.js";

/** `thrown` as a ShoalError of the same code, and {@link UnavailableHere} as that, with `prefix` before its message. */
export function withPrefix(prefix: string, thrown: unknown): ShoalError {
  const error = ShoalError.from(thrown);
  const { retryAfterSeconds } = error;
  const message = prefix + error.message;
  const options: ShoalErrorOptions = {
    cause: error.cause ?? error,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
  return error instanceof UnavailableHere
    ? new UnavailableHere(message, options)
    : new ShoalError(error.code, message, options);
}
