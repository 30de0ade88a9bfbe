/** Something that was asked and answered; when, on one clock. */
export interface HistoryStep<State> {
  readonly name: string;
  readonly askedMs: number;
  /** Infinity when nobody knows what became of it: it may have happened at any time since, or never. */
  readonly answeredMs: number;
  /** The state after it, or undefined when it could not have been answered so in this state. */
  readonly apply: (state: State) => State | undefined;
}

const TRIES_MAX = 2_000_000;

/**
 * One order of the steps that explains every answer, or undefined when there is none: each happens at one moment between
 * its question and its answer (linearizability; Wing and Gong, "Testing and Verifying Concurrent Objects", 1993, with
 * the memory of what was tried of Lowe, "Testing for linearizability", 2017). `keyOf` tells equal states apart from others.
 */
export function linearOrder<State>(
  steps: readonly HistoryStep<State>[],
  begin: State,
  keyOf: (state: State) => string,
): readonly HistoryStep<State>[] | undefined {
  const sorted = [...steps].sort((a, b) => a.askedMs - b.askedMs);
  const tried = new Set<string>();
  const order: HistoryStep<State>[] = [];

  const search = (state: State, done: bigint, left: number): boolean => {
    if (left === 0) return true;
    const key = `${done.toString(36)} ${keyOf(state)}`;
    if (tried.has(key)) return false;
    if (tried.size >= TRIES_MAX) throw new Error(`no verdict about ${steps.length} steps after ${TRIES_MAX} tries`);
    tried.add(key);
    const open = sorted.flatMap((step, number) => ((done >> BigInt(number)) & 1n ? [] : [{ step, number }]));
    // Whoever was asked after this answer comes after it.
    const firstAnswerMs = Math.min(...open.map(({ step }) => step.answeredMs));
    for (const { step, number } of open) {
      if (step.askedMs > firstAnswerMs) break;
      const next = step.apply(state);
      if (next === undefined) continue;
      order.push(step);
      if (search(next, done | (1n << BigInt(number)), left - Number(step.answeredMs !== Number.POSITIVE_INFINITY))) {
        return true;
      }
      order.pop();
    }
    return false;
  };

  // Steps without an answer need not have happened.
  const answered = steps.filter(({ answeredMs }) => answeredMs !== Number.POSITIVE_INFINITY).length;
  return search(begin, 0n, answered) ? order : undefined;
}
