import type { Step } from "./explore-states.js";
import { existsAt, type FenceNode, type FenceState, FREE, replaceAt, withoutPast } from "./schema-fence-state.js";
import type { WrongVariant } from "./wrong-variants.js";

export const NODES = ["n1", "n2"] as const;

/** What storage nodes do in the model: they follow the schema, confirm drops, restart, and acknowledge writes. */
export class FenceHolders {
  readonly #wrong: WrongVariant | undefined;

  constructor(wrong: WrongVariant | undefined) {
    this.#wrong = wrong;
  }

  steps(state: FenceState): readonly Step<FenceState>[] {
    return [...state.nodes.flatMap((node, at) => this.#nodeSteps(state, node, at)), ...this.#writeSteps(state)];
  }

  /** The next step of nodes that can reach everybody; undefined when none is left. */
  heal(state: FenceState): FenceState | undefined {
    const { version } = state;
    for (const [at, { isRemoved, known, kept }] of state.nodes.entries()) {
      if (!isRemoved && (kept < version || known < version)) {
        return this.withNode(state, at, { known: version, kept: version, hasFollowed: true });
      }
    }
    const write = state.writes.findIndex(({ phase }) => phase === "in flight");
    if (write >= 0) return this.with({ ...state, writes: replaceAt(state.writes, write, FREE) });
    return state.nodes.flatMap((_, at) => this.confirmations(state, at))[0]?.to;
  }

  #is(wrong: WrongVariant): boolean {
    return this.#wrong === wrong;
  }

  /** Without what can have no effect any more. */
  with(state: FenceState): FenceState {
    const mayCallsBeLate =
      this.#is("a change is made although its time is over") ||
      this.#is("a DELETE does not name its incarnation") ||
      this.#is("a POST does not name what it follows");
    return withoutPast(state, mayCallsBeLate);
  }

  withNode(state: FenceState, at: number, change: Partial<FenceNode>): FenceState {
    return this.with({ ...state, nodes: replaceAt(state.nodes, at, change) });
  }

  #nodeSteps(state: FenceState, node: FenceNode, at: number): readonly Step<FenceState>[] {
    const name = NODES[at];
    const { isRemoved, known, kept } = node;
    const step = (words: string, change: Partial<FenceNode>, broken?: string): Step<FenceState> => {
      return { words: `${name} ${words}`, to: this.withNode(state, at, change), broken };
    };
    if (isRemoved) {
      if (!this.#is("a node that was removed comes back with the schema that it kept")) return [];
      return [step(`comes back at version ${kept}`, { isRemoved: false })];
    }
    const writes = state.writes.map((one) => (one.phase === "in flight" && one.node === at ? FREE : one));
    const restarted = { known: kept, hasFollowed: !this.#is("a node confirms once, and not again after a restart") };
    const to = this.withNode({ ...state, writes }, at, restarted);
    const steps: Step<FenceState>[] = [];
    const isKeptLate = this.#is("a node confirms before it keeps the schema durably");
    const { version } = state;
    if (isKeptLate && known < version)
      steps.push(step(`acts on version ${version}`, { known: version, hasFollowed: true }));
    // One that it kept later, when there was a later one, would be as if it had kept it earlier.
    if (!isKeptLate && kept < version) steps.push(step(`keeps version ${version}`, { kept: version }));
    if (known < kept && !isKeptLate) steps.push(step(`acts on version ${kept}`, { known: kept, hasFollowed: true }));
    if (known > kept) steps.push(step(`keeps version ${known}`, { kept: known }));
    if (this.#is("the store of another cluster is accepted") && known > 0) {
      const lost = state.writes.some((one) => one.phase === "acknowledged" && one.node === at);
      const broken = lost ? "an acknowledged write is dropped though nobody has sent DELETE" : undefined;
      steps.push(step("takes the schema of an empty store", { known: 0, kept: 0 }, broken));
    }
    const restart = { words: `${name} restarts at version ${kept}, which it kept`, to };
    return [...steps, ...this.confirmations(state, at), restart, ...this.#removals(state, at)];
  }

  /** One that is down and has no shards; a cluster of two loses one at most. */
  #removals(state: FenceState, at: number): readonly Step<FenceState>[] {
    if (existsAt(state.version) > 0 || state.nodes.some(({ isRemoved }) => isRemoved)) return [];
    const pending = state.pending.map((bits) => bits & ~(1 << at));
    const writes = state.writes.map((one) => (one.node === at ? FREE : one));
    const removed = { isRemoved: true, known: state.nodes[at]?.kept ?? 0 };
    const to = this.withNode({ ...state, pending, writes }, at, removed);
    return [{ words: `${NODES[at]} ends, and an operator removes it`, to }];
  }

  confirmations(state: FenceState, at: number): readonly Step<FenceState>[] {
    const { isRemoved, known, hasFollowed } = state.nodes[at] as FenceNode;
    if (isRemoved || (this.#is("a node confirms once, and not again after a restart") && !hasFollowed)) return [];
    return state.pending.flatMap((bits, incarnation) => {
      const isAsked = ((bits >> at) & 1) === 1 && known >= 2 * incarnation;
      const isBusy = state.writes.some(
        (one) => one.phase === "in flight" && one.node === at && one.incarnation === incarnation,
      );
      if (!isAsked || (isBusy && !this.#is("a node confirms before its writes in flight have ended"))) return [];
      const pending = state.pending.map((other, number) => (number === incarnation ? bits & ~(1 << at) : other));
      return [
        { words: `${NODES[at]} confirms that Car#${incarnation} is dropped`, to: this.with({ ...state, pending }) },
      ];
    });
  }

  #writeSteps(state: FenceState): readonly Step<FenceState>[] {
    const steps: Step<FenceState>[] = [];
    const free = state.writes.findIndex(({ phase }) => phase === "free");
    for (const [node, { isRemoved, known }] of state.nodes.entries()) {
      for (let version = 1; version <= state.version && free >= 0 && !isRemoved; version += 2) {
        const incarnation = existsAt(version);
        if (existsAt(known) !== incarnation && !this.#is("a node accepts incarnations that it does not know")) continue;
        const writes = replaceAt(state.writes, free, { phase: "in flight", incarnation, node });
        const words = `${NODES[node]} begins a write to Car#${incarnation} for a gateway at version ${version}`;
        steps.push({ words, to: this.with({ ...state, writes }) });
      }
    }
    for (const [at, { phase, incarnation, node }] of state.writes.entries()) {
      if (phase !== "in flight") continue;
      const isLost = incarnation <= state.fenced || incarnation < existsAt(state.version);
      const broken = isLost ? `a write to Car#${incarnation} is acknowledged after its end was answered` : undefined;
      const words = `${NODES[node]} acknowledges the write to Car#${incarnation}`;
      const writes = replaceAt(state.writes, at, { phase: "acknowledged", incarnation, node });
      steps.push({ words, to: this.with({ ...state, writes }), broken });
    }
    return steps;
  }
}
