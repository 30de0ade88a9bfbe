import { ShoalError, type ShoalErrorOptions } from "./shoal-error.js";

/** An `unavailable` that is this process's own: other processes may be able to go on with the work at once. */
export class UnavailableHere extends ShoalError {
  constructor(message: string, options?: ShoalErrorOptions) {
    super("unavailable", message, options);
  }
}
