import { ShoalError } from "@shoal/model";

const errors = new WeakSet<ShoalError>();

/** An `unavailable` that is this process's own: other processes may be able to go on with the job at once. */
export function unavailableHere(message: string): ShoalError {
  const error = new ShoalError("unavailable", message);
  errors.add(error);
  return error;
}

export function isUnavailableHere(error: ShoalError): boolean {
  return errors.has(error);
}
