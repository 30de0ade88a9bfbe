/**
 * What went wrong, in the words of the domain. Every edge (HTTP, GraphQL, gRPC) translates these with a total map:
 * a code that is added here breaks the build there until it is mapped.
 */
export type ErrorCode =
  /** The request could not be read at all: not JSON, wrong JSON type. */
  | "malformed"
  /** Read, but against a rule of the schema or of the operation. */
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "notFound"
  /** The thing exists already or was changed in between. */
  | "conflict"
  /** Larger than a stated limit. */
  | "tooLarge"
  /** The server refuses work for now; try again later. */
  | "overloaded"
  /** A part that is needed cannot be reached; try again later. */
  | "unavailable"
  /** Another copy of the shard is asked for this now: between processes only, nobody outside sees it. */
  | "moved"
  | "deadlineExceeded"
  /** Stored bytes are damaged. */
  | "dataLoss"
  /** A fault of ours. */
  | "internal";

export interface ShoalErrorOptions {
  readonly cause?: unknown;
  /** With `overloaded` and `unavailable`: when to try again. */
  readonly retryAfterSeconds?: number;
}

/**
 * The one error class. Thrown where the fact is known; the message names the value, the place and the rule:
 * `property 'age' of class 'Person' is int, got string`.
 */
export class ShoalError extends Error {
  override readonly name = "ShoalError";
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ShoalErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** Any thrown value as a ShoalError: an unknown one becomes `internal` and keeps its cause. */
  static from(thrown: unknown): ShoalError {
    if (thrown instanceof ShoalError) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new ShoalError("internal", message, { cause: thrown });
  }
}

/** An `unavailable` that is this process's own: other processes may be able to go on with the work at once. */
export class UnavailableHere extends ShoalError {
  constructor(message: string, options?: ShoalErrorOptions) {
    super("unavailable", message, options);
  }
}

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
