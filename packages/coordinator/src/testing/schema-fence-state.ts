/**
 * One class name. Its schema is a line of versions that are made and deleted in turn: at version 1 `Car#1` exists, at version 2 no
 * class of that name does, at version 3 `Car#2`, and so on. So a version says which incarnation exists and which ones are gone.
 */
export type Version = number;

/** The number of an incarnation; 0 is none. */
export type Incarnation = number;

export function existsAt(version: Version): Incarnation {
  return version % 2 === 1 ? (version + 1) / 2 : 0;
}

/** The latest that was ever made. */
export function latestAt(version: Version): Incarnation {
  return Math.ceil(version / 2);
}

/** One that is down is one that does nothing; so it ends and starts in one step. */
export interface FenceNode {
  /** An operator has removed it. */
  readonly isRemoved: boolean;
  /** The schema that it acts on. */
  readonly known: Version;
  /** The schema that it keeps durably, and begins with after a restart. */
  readonly kept: Version;
  /** It has followed the schema since its start. Only the wrong variant that confirms once looks at it. */
  readonly hasFollowed: boolean;
}

/** What becomes of one write. There is room for a few at a time; a place is free again when the write cannot matter any more. */
export interface FenceWrite {
  readonly phase: "free" | "in flight" | "acknowledged";
  readonly incarnation: Incarnation;
  readonly node: number;
}

/** One request of a client to change the class, as its gateway and the coordinators see it. */
export interface Attempt {
  /** What the client wants. It repeats the request, as another attempt of the same operation, when it got an error. */
  readonly operation: number;
  readonly kind: "DELETE" | "POST";
  /** The client waits; it got an error (503) and may repeat; its operation has ended with a result. */
  readonly phase: "open" | "error" | "ended";
  /** Its time has run out. */
  readonly isOver: boolean;
  /**
   * The calls that are under way to coordinators or wait there, by the version that the gateway planned them on: so they name the
   * incarnation that they delete, or the one that they follow.
   */
  readonly calls: readonly Version[];
  /** What was made for it, while its record stands in the MetaStore: it is not settled. */
  readonly made: Incarnation;
}

export interface FenceState {
  readonly version: Version;
  /** By incarnation: the nodes that have not confirmed that it is dropped, a bit each. */
  readonly pending: readonly number[];
  readonly nodes: readonly FenceNode[];
  readonly writes: readonly FenceWrite[];
  readonly attempts: readonly Attempt[];
  /** So many requests for changes may still come. */
  readonly requestsLeft: number;
  /** DELETE was answered 200 for this incarnation and all before. */
  readonly fenced: Incarnation;
}

export const FREE: FenceWrite = { phase: "free", incarnation: 0, node: 0 };

export function initialState(nodes: number, writes: number, requests: number): FenceState {
  return {
    version: 1,
    pending: [],
    nodes: Array.from({ length: nodes }, () => ({ isRemoved: false, known: 1, kept: 1, hasFollowed: true })),
    writes: Array.from({ length: writes }, () => FREE),
    attempts: [],
    requestsLeft: requests,
    fenced: 0,
  };
}

export function replaceAt<T>(values: readonly T[], at: number, change: Partial<T>): readonly T[] {
  return values.map((one, number) => (number === at ? { ...one, ...change } : one));
}

/** Which nodes have not confirmed that an incarnation is dropped. */
export function pendingOf({ pending }: FenceState, incarnation: Incarnation): number {
  return pending[incarnation] ?? 0;
}

export function isAnyPending({ pending }: FenceState): boolean {
  return pending.some((bits) => bits > 0);
}

/** Whether the record of an attempt says how the name came to be as it is: a later change makes it void. */
export function isRecordOfLast({ version }: FenceState, { kind, made }: Attempt): boolean {
  return made > 0 && version === (kind === "DELETE" ? 2 * made : 2 * made - 1);
}

/**
 * The same state without what can have no effect any more. `mayCallsBeLate`: calls have an effect although their time is over or
 * the schema has gone on. Else such a call can only be planned again, which is as if it were lost and another one sent.
 */
export function withoutPast(state: FenceState, mayCallsBeLate: boolean): FenceState {
  const { version } = state;
  const exists = existsAt(version);
  const writes = state.writes.map((write) =>
    write.phase === "acknowledged" && write.incarnation !== exists ? FREE : write,
  );
  const attempts = state.attempts.map((one): Attempt => {
    const isOpen = one.phase === "open";
    const made = isOpen || isRecordOfLast(state, one) ? one.made : 0;
    const calls = one.calls.filter((plan) => {
      return made > 0 ? isOpen : mayCallsBeLate || (!one.isOver && plan === version);
    });
    const isOver = one.isOver || (!isOpen && made === 0 && calls.length === 0);
    const isSame = made === one.made && isOver === one.isOver && calls.length === one.calls.length;
    return isSame ? one : { ...one, made, calls, isOver };
  });
  const matters = ({ phase, operation, calls, made }: Attempt, at: number): boolean => {
    if (phase === "open" || calls.length > 0 || made > 0) return true;
    const isRepeated = attempts.some((other, number) => number > at && other.operation === operation);
    return phase === "error" && !isRepeated && state.requestsLeft > 0;
  };
  return { ...state, writes, attempts: attempts.filter(matters) };
}

/** The same for states that differ only in names: of nodes, of operations, in the order of calls. */
export function keyOf(state: FenceState): string {
  const operations = new Map<number, string>();
  for (const { operation, kind, phase, isOver, made, calls } of state.attempts) {
    let text = `${operations.get(operation) ?? kind[0]}${phase.at(-1)}${isOver ? "!" : ""}${made}`;
    for (const plan of calls) if (plan === state.version) text += "=";
    for (const plan of calls) if (plan !== state.version) text += "<";
    operations.set(operation, text);
  }
  const ofNode = ({ isRemoved, hasFollowed, known, kept }: FenceNode, number: number): string => {
    let text = `${isRemoved ? "-" : hasFollowed ? "+" : "?"}${known}${kept}`;
    for (const bits of state.pending) text += (bits >> number) & 1;
    for (const { phase, node, incarnation } of state.writes) {
      if (phase !== "free" && node === number) text += phase[0] + String(incarnation);
    }
    return text;
  };
  const { version, requestsLeft, fenced, nodes } = state;
  return [version, requestsLeft, fenced, ...[...operations.values()].sort(), ...nodes.map(ofNode).sort()].join();
}
