import type { Explored, Step } from "./explore-states.js";
import { FenceHolders, NODES } from "./schema-fence-holders.js";
import {
  type Attempt,
  existsAt,
  type FenceState,
  initialState,
  isAnyPending,
  isRecordOfLast,
  keyOf,
  latestAt,
  pendingOf,
  replaceAt,
} from "./schema-fence-state.js";
import type { WrongVariant } from "./wrong-variants.js";

export interface FenceModelOptions {
  readonly wrong?: WrongVariant;
  /** Requests of clients for changes, repetitions included. */
  readonly requests: number;
  /** Writes that are under way, or acknowledged in what exists, at a time. */
  readonly writes: number;
}

const CALLS_MAX = 2;
/** What has led to a change that was made since. */
const OLD_PLAN = 0;

/**
 * "Who may acknowledge what" of this package's README, as a machine with few states. Nothing limits how often messages are lost or
 * late, processes restart or writes are tried; only the requests for changes are counted. What keeps it small:
 *
 * - Gateways are not among the states: one plans a write on any version there has been, as if it were as far behind as can be. That
 *   covers any number of gateways, and messages to nodes that are late.
 * - Nor are coordinators: they decide on the MetaStore, which is linear, and hold only calls, each of which may be lost at any
 *   time (a coordinator that ends loses several) or overtaken. That covers any number of coordinators.
 * - A result to a call arrives at once or never: one that is late gives others more time, and promises nothing sooner.
 * - A node that is down is one that does nothing, and is the same as one that nobody hears.
 */
export class SchemaFenceModel implements Explored<FenceState> {
  readonly initial: FenceState;
  readonly #wrong: WrongVariant | undefined;
  readonly #holders: FenceHolders;

  constructor({ wrong, requests, writes }: FenceModelOptions) {
    this.#wrong = wrong;
    this.#holders = new FenceHolders(wrong);
    this.initial = initialState(NODES.length, writes, requests);
  }

  key(state: FenceState): string {
    return keyOf(state);
  }

  steps(state: FenceState): readonly Step<FenceState>[] {
    return [
      ...this.#clientSteps(state),
      ...state.attempts.flatMap((one, at) => this.#attemptSteps(state, one, at)),
      ...this.#holders.steps(state),
    ];
  }

  /** Everything is up and every message arrives; clients send nothing new. */
  heal(state: FenceState): FenceState | undefined {
    const healed = this.#holders.heal(state);
    if (healed !== undefined) return healed;
    for (const [at, one] of state.attempts.entries()) {
      const [plan] = one.calls;
      if (plan !== undefined) return this.#serve(state, at, plan).at(-1)?.to;
      if (one.phase === "open") return this.#send(state, at);
      if (!one.isOver) return this.#withAttempt(state, at, { isOver: true });
    }
    return undefined;
  }

  brokenAtRest(state: FenceState): string | undefined {
    if (isAnyPending(state)) return "a drop is pending for ever";
    for (const { phase, operation, kind } of state.attempts) {
      if (phase !== "error") continue;
      const attempts = [...state.attempts, newAttempt(operation, kind, state.version)];
      const repeated = this.#serve(this.#with({ ...state, attempts }), attempts.length - 1, state.version);
      const broken = repeated.find((step) => step.broken !== undefined)?.broken;
      if (broken !== undefined) return broken;
      if (repeated.some(({ words }) => words.endsWith("503"))) return `${kind} is answered 503 for ever`;
    }
    return undefined;
  }

  #is(wrong: WrongVariant): boolean {
    return this.#wrong === wrong;
  }

  #with(state: FenceState): FenceState {
    return this.#holders.with(state);
  }

  #withAttempt(state: FenceState, at: number, change: Partial<Attempt>): FenceState {
    return this.#with({ ...state, attempts: replaceAt(state.attempts, at, change) });
  }

  // Clients and gateways.

  #clientSteps(state: FenceState): readonly Step<FenceState>[] {
    if (state.requestsLeft === 0) return [];
    const steps: Step<FenceState>[] = [];
    const request = (operation: number, kind: Attempt["kind"], verb: string): void => {
      const attempts = [...state.attempts, newAttempt(operation, kind, state.version)];
      steps.push({
        words: `a client ${verb} ${kind} Car, operation ${operation}`,
        to: this.#with({ ...state, attempts, requestsLeft: state.requestsLeft - 1 }),
      });
    };
    const operations = state.attempts.map(({ operation }) => operation);
    for (const kind of ["DELETE", "POST"] as const) request(1 + Math.max(0, ...operations), kind, "sends");
    for (const [at, { operation, kind, phase }] of state.attempts.entries()) {
      const isLast = operations.lastIndexOf(operation) === at;
      if (isLast && phase === "error") request(operation, kind, "repeats");
    }
    return steps;
  }

  /** A gateway calls again with the plan that it has. A refusal alone, which says that nothing was made, has it plan again. */
  #send(state: FenceState, at: number): FenceState {
    const { calls, made } = state.attempts[at] as Attempt;
    const isPlannedAnew = made === 0 || this.#is("a call that is repeated is planned anew");
    return this.#withAttempt(state, at, { calls: [...calls, isPlannedAnew ? state.version : OLD_PLAN] });
  }

  #attemptSteps(state: FenceState, one: Attempt, at: number): readonly Step<FenceState>[] {
    const name = `${one.kind} of operation ${one.operation}`;
    const steps: Step<FenceState>[] = [];
    if (!one.isOver) {
      const phase = one.phase === "open" ? "error" : one.phase;
      const result = one.phase === "open" ? ", the client gets 503" : "";
      steps.push({
        words: `the time of ${name} is over${result}`,
        to: this.#withAttempt(state, at, { isOver: true, phase }),
      });
    }
    if (one.phase === "open" && one.calls.length < CALLS_MAX) {
      steps.push({ words: `the gateway calls once more for ${name}`, to: this.#send(state, at) });
    }
    for (const plan of new Set(one.calls)) {
      const calls = without(one.calls, plan);
      steps.push({ words: `a call for ${name}, or its answer, is lost`, to: this.#withAttempt(state, at, { calls }) });
      steps.push(...this.#serve(state, at, plan));
    }
    return steps;
  }

  // Coordinators.

  /** What a coordinator does with a call. That comes last which happens when nothing fails. */
  #serve(state: FenceState, at: number, plan: number): readonly Step<FenceState>[] {
    const one = state.attempts[at];
    if (one === undefined) return [];
    const returned = { ...one, calls: without(one.calls, plan) };
    const name = `${one.kind} of operation ${one.operation}`;
    const refused = (why: string): Step<FenceState> => {
      const phase = one.phase === "open" ? "error" : one.phase;
      return { words: `${why}: ${name} is answered 503`, to: this.#withAttempt(state, at, { ...returned, phase }) };
    };
    if (one.made > 0) {
      const isWaiting = pendingOf(state, one.made) > 0 && one.kind === "DELETE";
      if (isWaiting && !this.#is("a DELETE is answered before the holders have confirmed")) {
        return [refused("a holder is silent")];
      }
      return this.#succeed(state, at, returned);
    }
    if (one.isOver && !this.#is("a change is made although its time is over")) {
      return [{ words: `a call for ${name} is too late`, to: this.#withAttempt(state, at, returned) }];
    }
    const namesNothing =
      one.kind === "DELETE" ? "a DELETE does not name its incarnation" : "a POST does not name what it follows";
    if (plan !== state.version && !this.#is(namesNothing)) {
      return [
        { words: `a call for ${name} is refused, to be planned anew`, to: this.#withAttempt(state, at, returned) },
      ];
    }
    const isThere = existsAt(state.version) > 0;
    if (isThere === (one.kind === "POST")) return [this.#explain(state, at, returned, refused)];
    if (isAnyPending(state) && !this.#is("a class is made anew while the drop is pending")) {
      return [refused("a drop is pending")];
    }
    return [this.#commit(state, at)];
  }

  #commit(state: FenceState, at: number): Step<FenceState> {
    const one = state.attempts[at] as Attempt;
    const version = state.version + 1;
    const made = latestAt(version);
    const pending = Array.from({ length: made + 1 }, (_, number) => pendingOf(state, number));
    if (one.kind === "DELETE") {
      pending[made] = state.nodes.reduce((bits, { isRemoved }, number) => bits | (isRemoved ? 0 : 1 << number), 0);
    }
    const isTooLate = one.phase === "ended" || (one.phase === "error" && one.isOver);
    return {
      words: `a coordinator commits ${one.kind} Car#${made} of operation ${one.operation}: version ${version}`,
      to: this.#withAttempt({ ...state, version, pending }, at, { made }),
      broken: isTooLate ? `${one.kind} Car#${made} is made after its client was told how it ended` : undefined,
    };
  }

  /** The class is gone already, or there already: as an earlier attempt, whose result never arrived, has made it? */
  #explain(
    state: FenceState,
    at: number,
    returned: Attempt,
    refused: (why: string) => Step<FenceState>,
  ): Step<FenceState> {
    const { operation, kind } = returned;
    const record = state.attempts.findIndex((one, other) => {
      return other !== at && one.kind === kind && isRecordOfLast(state, one);
    });
    const found = state.attempts[record];
    if (found !== undefined && !this.#is("unsettled changes are not looked at")) {
      if (!found.isOver) return refused("such a change is under way");
      const attempts = replaceAt(replaceAt(state.attempts, record, { made: 0 }), at, { made: found.made });
      return {
        words: `${kind} of operation ${operation} is found made, as unsettled`,
        to: this.#with({ ...state, attempts }),
      };
    }
    const isOwn = state.attempts.some((one) => one.operation === operation && isRecordOfLast(state, one));
    const result = kind === "DELETE" ? "no such class" : "the class exists";
    return {
      words: `${kind} of operation ${operation} is answered "${result}"`,
      to: this.#end(state, at, returned),
      broken: isOwn && returned.phase === "open" ? `${kind} is answered "${result}" for what it did itself` : undefined,
    };
  }

  /** The result arrives. The record is settled, unless the message for that is lost. */
  #succeed(state: FenceState, at: number, returned: Attempt): readonly Step<FenceState>[] {
    const { operation, kind, made, phase } = returned;
    const words = `${kind} Car#${made} of operation ${operation} is answered 200`;
    if (phase !== "open") return [{ words, to: this.#withAttempt(state, at, returned) }];
    const fenced = kind === "DELETE" ? Math.max(state.fenced, made) : state.fenced;
    const broken = kind === "POST" ? this.#brokenByCreation(state, made) : undefined;
    return [
      { words: `${words}, and not settled`, to: this.#end({ ...state, fenced }, at, returned), broken },
      { words, to: this.#end({ ...state, fenced }, at, { ...returned, made: 0 }), broken },
    ];
  }

  #end(state: FenceState, at: number, returned: Attempt): FenceState {
    const attempts = replaceAt(state.attempts, at, returned).map((one): Attempt => {
      return one.operation === returned.operation && returned.phase === "open" ? { ...one, phase: "ended" } : one;
    });
    return this.#with({ ...state, attempts });
  }

  #brokenByCreation(state: FenceState, made: number): string | undefined {
    const older = state.nodes.findIndex(({ isRemoved, known, kept }) => {
      return !isRemoved && [known, kept].some((version) => existsAt(version) > 0 && existsAt(version) < made);
    });
    const text = `POST Car#${made} is answered 200 while ${NODES[older]} may still acknowledge into an older incarnation`;
    return older < 0 ? undefined : text;
  }
}

function newAttempt(operation: number, kind: Attempt["kind"], plan: number): Attempt {
  return { operation, kind, phase: "open", isOver: false, calls: [plan], made: 0 };
}

/** One of them less. */
function without(calls: readonly number[], plan: number): readonly number[] {
  const at = calls.indexOf(plan);
  return calls.filter((_, number) => number !== at);
}
