import { ShoalError } from "../errors/shoal-error.js";

/** `code: message` of what `run` fails with, or `accepted`. */
export function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ShoalError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

/** What is said of `run`, which fails with `invalid`; or `accepted`. */
export function invalidText(run: () => unknown): string {
  const outcome = refusal(run);
  if (outcome !== "accepted" && !outcome.startsWith(INVALID)) throw new Error(`not refused as invalid: ${outcome}`);
  return outcome.replace(INVALID, "");
}

const INVALID = "invalid: ";
