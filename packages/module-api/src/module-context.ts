/** What bounds the work of a module; the context of a request is one. */
export interface ModuleContext {
  /** Milliseconds since 1970 after which nobody waits for the answer any more. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
  /** What log lines are found by. */
  readonly requestId?: string | undefined;
}

/** `context` with another deadline. A spread would leave out what getters of a class make: the signal, and the id. */
export function endingAt(deadline: number, { signal, requestId }: ModuleContext): ModuleContext {
  return { deadline, signal, requestId };
}
