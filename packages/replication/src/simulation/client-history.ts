/** What clients asked of one document, and what they were answered. Values are given once only; "" is no object. */
export interface ClientOperation {
  readonly kind: "write" | "create" | "read" | "search";
  /** What is written; of reads, what was found. A deletion writes "". */
  value: string;
  readonly calledAt: number;
  /** Infinity: no result came, or one that says that nobody knows. */
  endedAt: number;
  /** Of a create that was refused: an object was there. */
  isRefused?: boolean;
}

/**
 * Whether one order of the operations explains all results, in which each takes effect between its call and its result; those
 * without result may take effect at any time after their call, or never. After Wing and Gong (1993), with the memory of states
 * that Lowe added (2017), as Porcupine does it.
 */
export function isLinear(operations: readonly ClientOperation[]): boolean {
  const mayHide = operations.every(({ isRefused }) => !isRefused);
  const found = new Set(operations.filter(({ kind }) => kind === "read").map(({ value }) => value));
  // A create that was answered may have come after any deletion.
  found.add("");
  const history = operations
    .filter(({ kind, endedAt }) => kind !== "search" && (kind !== "read" || endedAt !== Number.POSITIVE_INFINITY))
    // What nobody answered and nobody saw need not have happened.
    .filter(({ endedAt, value }) => !mayHide || endedAt !== Number.POSITIVE_INFINITY || found.has(value))
    .sort((one, other) => one.calledAt - other.calledAt);
  const seen = new Set<string>();
  const isDone = history.map(() => false);
  let open = history.filter(({ endedAt }) => endedAt !== Number.POSITIVE_INFINITY).length;
  const explains = (value: string): boolean => {
    if (open === 0) return true;
    const key = `${value}:${isDone.map((done) => (done ? 1 : 0)).join("")}`;
    if (seen.has(key)) return false;
    seen.add(key);
    // Nothing may come before what was answered when it was called.
    let limit = Number.POSITIVE_INFINITY;
    for (const [at, { endedAt }] of history.entries()) if (!isDone[at]) limit = Math.min(limit, endedAt);
    for (const [at, operation] of history.entries()) {
      if (operation.calledAt > limit) break;
      if (isDone[at]) continue;
      const after = effect(operation, value);
      if (after === undefined) continue;
      const hasResponded = operation.endedAt !== Number.POSITIVE_INFINITY;
      isDone[at] = true;
      if (hasResponded) open--;
      if (explains(after)) return true;
      isDone[at] = false;
      if (hasResponded) open++;
    }
    return false;
  };
  return explains("");
}

/** The value after it; undefined: it cannot take effect on `value`. */
function effect({ kind, value, isRefused }: ClientOperation, before: string): string | undefined {
  if (kind === "read") return value === before ? before : undefined;
  if (kind === "write") return value;
  if (isRefused) return before === "" ? undefined : before;
  return before === "" ? value : undefined;
}

/** A search may see what is under way, and nothing that was overwritten, by a write that was acknowledged, before it began. */
export function staleSearch(operations: readonly ClientOperation[]): ClientOperation | undefined {
  const writes = operations.filter(({ kind, isRefused }) => (kind === "write" || kind === "create") && !isRefused);
  return operations.find(({ kind, value, calledAt, endedAt }) => {
    if (kind !== "search" || endedAt === Number.POSITIVE_INFINITY) return false;
    const sources =
      value === "" ? writes.filter((write) => write.value === "") : writes.filter((write) => write.value === value);
    const lastEnded = value === "" ? [{ calledAt: -1, endedAt: -1 }, ...sources] : sources;
    // Of several deletions any may be the one that is seen.
    return lastEnded.every((source) => {
      if (source.calledAt > endedAt) return true;
      return writes.some(
        (write) => write.value !== value && write.endedAt < calledAt && write.calledAt > source.endedAt,
      );
    });
  });
}
