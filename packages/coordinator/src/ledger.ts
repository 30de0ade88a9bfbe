import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { MetaChange, MetaState, MetaStore } from "./meta-store.js";

/** What a change does to the state that it was decided on, and what its caller gets. Without changes nothing is written. */
export interface LedgerChange<T> {
  readonly changes: readonly MetaChange[];
  readonly result: T;
}

/** For reads that several callers share: the store has a limit of its own. */
const SHARED: RequestContext = { deadline: Number.POSITIVE_INFINITY };

/**
 * The state of a MetaStore as this process knows it, and the line in which the process changes it. Changes of one process
 * run one after the other, so that only other coordinators make a commit fail.
 */
export class Ledger implements Disposable {
  readonly #store: MetaStore;
  readonly #nowMs: () => number;
  readonly #subscription: Disposable;
  readonly #listeners = new Set<(state: MetaState) => void>();
  #state: MetaState;
  #turn: Promise<unknown> = Promise.resolve();
  /** States that this process has committed on: nobody else had changed them before. */
  readonly #wereCurrent = new WeakSet<MetaState>();
  #asked = 0;
  /** That the store could not be reached, for the changes that were in the line at that time. */
  #failure: { readonly upTo: number; readonly error: ShoalError } | undefined;
  #reading: Promise<MetaState> | undefined;
  #nextRead: Promise<MetaState> | undefined;

  private constructor(store: MetaStore, nowMs: () => number, state: MetaState) {
    this.#store = store;
    this.#nowMs = nowMs;
    this.#state = state;
    this.#subscription = store.watch((later) => this.#follow(later));
  }

  static async open(store: MetaStore, nowMs: () => number): Promise<Ledger> {
    return new Ledger(store, nowMs, await store.load(SHARED));
  }

  get historyId(): string {
    return this.#store.historyId;
  }

  /** As it is known now. */
  get state(): MetaState {
    return this.#state;
  }

  /**
   * At least as new as every change that was answered, by any coordinator, before this was called. Callers share reads: one
   * that comes while a read is under way gets the next one, and its failure when that fails.
   */
  current(): Promise<MetaState> {
    if (this.#reading === undefined) return this.#read();
    this.#nextRead ??= this.#reading.then(() => this.#reading ?? this.#read());
    return this.#nextRead;
  }

  /** Calls `listener` with every later state, in order, until disposed of. */
  onState(listener: (state: MetaState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  nowMs(): number {
    return this.#nowMs();
  }

  /** Resolves when `state` is no longer the one that is known, at the latest at `untilMs`. */
  async changedSince(state: MetaState, untilMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#state !== state || signal?.aborted) return;
    let done = (): void => {};
    const changed = new Promise<void>((resolve) => {
      done = resolve;
    });
    using _subscription = this.onState(done);
    const timer = setTimeout(done, Math.max(0, untilMs - this.#nowMs()));
    signal?.addEventListener("abort", done);
    await changed;
    clearTimeout(timer);
    signal?.removeEventListener("abort", done);
  }

  /**
   * Decides on the current state and commits; decides again when another coordinator was faster. A refusal, or that there is
   * nothing to change, holds for a state that was current after this was called. Resolves after the listeners have seen the change.
   */
  async change<T>(context: RequestContext, decide: (state: MetaState) => LedgerChange<T>): Promise<T> {
    const place = ++this.#asked;
    for (;;) {
      const turn = this.#turn.then(() => this.#decideInTurn(place, context, decide));
      this.#turn = turn.catch(() => undefined);
      const { decision, isCommitted, state } = await turn;
      // Where nothing is written, nothing would fail on an outdated state. The others need not wait for this look at it.
      if (!isCommitted) await this.#reached(() => this.current());
      if (!isCommitted && this.#state !== state && !this.#wereCurrent.has(state)) continue;
      if (decision.change === undefined) throw decision.refusal;
      return decision.change.result;
    }
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#listeners.clear();
  }

  /** Commits what is decided; decides again when another coordinator was faster. */
  async #decideInTurn<T>(
    place: number,
    context: RequestContext,
    decide: (state: MetaState) => LedgerChange<T>,
  ): Promise<{ readonly decision: Decision<T>; readonly isCommitted: boolean; readonly state: MetaState }> {
    for (;;) {
      // Who waited while the store could not be reached does not wait for it once more.
      if (this.#failure !== undefined && place <= this.#failure.upTo) throw this.#failure.error;
      context.signal?.throwIfAborted();
      if (this.#nowMs() >= context.deadline) {
        throw new ShoalError(
          "deadlineExceeded",
          "the change was not made: its time ran out while it waited for its turn",
        );
      }
      const state = this.#state;
      const decision = decisionOn(state, decide);
      const changes = decision.change?.changes ?? [];
      if (changes.length === 0) return { decision, isCommitted: false, state };
      if (await this.#reached(() => this.#commitOnce(changes, context))) {
        this.#wereCurrent.add(state);
        return { decision, isCommitted: true, state };
      }
    }
  }

  /** False when another coordinator was faster; its change is known then. */
  async #commitOnce(changes: readonly MetaChange[], context: RequestContext): Promise<boolean> {
    if ((await this.#store.commit(this.#state.revision, changes, context)) !== undefined) return true;
    this.#follow(await this.#store.load(context));
    return false;
  }

  async #reached<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (thrown) {
      const error = ShoalError.from(thrown);
      if (error.code === "unavailable") this.#failure = { upTo: this.#asked, error };
      throw error;
    }
  }

  #read(): Promise<MetaState> {
    const reading = this.#store
      .load(SHARED)
      .then((state) => {
        this.#follow(state);
        return this.#state;
      })
      .finally(() => {
        this.#reading = undefined;
        this.#nextRead = undefined;
      });
    this.#reading = reading;
    return reading;
  }

  #follow(state: MetaState): void {
    if (state.revision <= this.#state.revision) return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

type Decision<T> = { readonly change: LedgerChange<T> } | { readonly change: undefined; readonly refusal: unknown };

function decisionOn<T>(state: MetaState, decide: (state: MetaState) => LedgerChange<T>): Decision<T> {
  try {
    return { change: decide(state) };
  } catch (refusal) {
    return { change: undefined, refusal };
  }
}
