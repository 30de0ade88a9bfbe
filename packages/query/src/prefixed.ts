import { ShoalError } from "@shoal/model";

/** Runs `work`; an error of it keeps its code and gets `prefix` before its message. */
export async function prefixed<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw withPrefix(prefix, thrown);
  }
}

/** `thrown` as a ShoalError of the same code with `prefix` before its message. */
export function withPrefix(prefix: string, thrown: unknown): ShoalError {
  const error = ShoalError.from(thrown);
  const { retryAfterSeconds } = error;
  return new ShoalError(error.code, prefix + error.message, {
    cause: error.cause ?? error,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
