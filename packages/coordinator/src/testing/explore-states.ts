/** A step out of a state: what happens, in words, and what comes of it. */
export interface Step<State> {
  readonly words: string;
  readonly to: State;
  /** A promise that this step breaks. */
  readonly broken?: string | undefined;
}

/** Something whose states are explored. States with the same key are the same state. */
export interface Explored<State> {
  readonly initial: State;
  key(state: State): string;
  /** Everything that may happen next. */
  steps(state: State): readonly Step<State>[];
  /** What happens next when nothing fails any more; undefined when everything has come to rest. */
  heal(state: State): State | undefined;
  /** A promise that a state at rest breaks. */
  brokenAtRest(state: State): string | undefined;
}

export interface Exploration {
  readonly states: number;
  /** The broken promise that is reached in the fewest steps, with these steps. */
  readonly broken: { readonly promise: string; readonly trace: readonly string[] } | undefined;
}

/**
 * Breadth first through every state that can be reached, so that what is broken first is broken by the shortest trace. From each
 * state it also heals until everything is at rest.
 */
export function exploreStates<State>(model: Explored<State>, statesMax: number): Exploration {
  const seen = new Map<string, number>([[model.key(model.initial), 0]]);
  const states = [model.initial];
  const parents = [-1];
  const words = [""];
  const trace = (number: number): string[] => {
    const lines: string[] = [];
    for (let at = number; at > 0; at = parents[at] ?? 0) lines.unshift(words[at] ?? "");
    return lines;
  };
  const healed = new Set<string>();
  for (let at = 0; at < states.length; at++) {
    const state = states[at] as State;
    const unhealed = brokenWhenHealed(model, state, healed);
    if (unhealed !== undefined) {
      return { states: states.length, broken: { promise: unhealed, trace: [...trace(at), "everything heals"] } };
    }
    for (const step of model.steps(state)) {
      if (step.broken !== undefined) {
        return { states: states.length, broken: { promise: step.broken, trace: [...trace(at), step.words] } };
      }
      const key = model.key(step.to);
      if (seen.has(key)) continue;
      if (states.length >= statesMax) throw new Error(`there are more than ${statesMax} states`);
      seen.set(key, states.length);
      states.push(step.to);
      parents.push(at);
      words.push(step.words);
    }
  }
  return { states: states.length, broken: undefined };
}

/** `healed`: the keys of states that are known to come to rest with every promise kept. */
function brokenWhenHealed<State>(model: Explored<State>, from: State, healed: Set<string>): string | undefined {
  const passed = new Set<string>();
  for (let state = from; ; ) {
    const key = model.key(state);
    if (healed.has(key)) break;
    if (passed.has(key)) return "it never comes to rest";
    passed.add(key);
    const next = model.heal(state);
    if (next === undefined) {
      const broken = model.brokenAtRest(state);
      if (broken !== undefined) return broken;
      break;
    }
    state = next;
  }
  for (const key of passed) healed.add(key);
  return undefined;
}
