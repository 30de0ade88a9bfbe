import { ShoalError } from "@shoal/model";
import type { NativeResult } from "@shoal/native";

/**
 * The vector of a document cannot be read from its file, or is not as it was written. `mend` stores it again. It is the document's as
 * long as an index `holds` it: `generation` is a number of the process.
 */
export class DamagedVector extends ShoalError {
  constructor(
    message: string,
    readonly document: number,
    readonly row: number,
    readonly generation: number,
  ) {
    super("dataLoss", message);
  }
}

/** The result when it is a good one; otherwise its status as an error. */
export function expectDone(result: NativeResult): NativeResult {
  switch (result.status) {
    case "done":
      return result;
    case "damaged":
      throw damaged(result);
    case "outOfMemory":
      throw new ShoalError("overloaded", "vector index: not enough memory");
    case "closed":
    case "cancelled":
      throw closedError();
  }
}

function damaged({ reason, integers: [document, row = 0, generation = 0] }: NativeResult): ShoalError {
  if (document === undefined) return new ShoalError("dataLoss", reason);
  return new DamagedVector(reason, document, row, generation);
}

export function closedError(): ShoalError {
  return new ShoalError("unavailable", "the vector index is closed");
}

/** Waits for `promise`, or for the signal, which rejects with its reason; what is waited for goes on. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
