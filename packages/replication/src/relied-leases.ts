import type { CopyCore } from "./copy-core.js";
import { type CopyName, copiesOf, needsOf, nodeOf, type ShardConfiguration, touched } from "./shard-configuration.js";

/**
 * The leases that a primary relies on when it answers, and that it tells its secondaries of: whose they are, with their numbers.
 * One that had ended is not relied on again before the configuration has changed: whoever took over meanwhile has changed it.
 */
export class ReliedLeases {
  readonly #core: CopyCore;
  #needs: ReadonlyMap<string, number> | undefined;
  /** What a change that is to be proposed in this step needs, too. */
  #wider: readonly string[] = [];
  /** One of them had ended: no version up to this one was proposed since. */
  #endedAt: number | undefined;
  /** What was held when that was asked of the store. */
  #asked: ReadonlyMap<string, number> | undefined;
  #lead = 0;

  constructor(core: CopyCore) {
    this.#core = core;
  }

  /** Which set of leases this is, counted within the epoch; 0: none yet. */
  get lead(): number {
    return this.#lead;
  }

  get needs(): ReadonlyMap<string, number> | undefined {
    return this.#needs;
  }

  /** The secondaries need a new lead. */
  leadAgain(): void {
    this.#lead++;
  }

  /** Whether the lease of the copy's node is relied on, and held. */
  covers(copy: CopyName): boolean {
    const { leases, now } = this.#core;
    const number = this.#needs?.get(nodeOf(copy));
    return number !== undefined && number === leases.held(nodeOf(copy), now);
  }

  fault(): string | undefined {
    const { configuration, leases, maybes, now } = this.#core;
    // Nobody is there who could take over.
    if (configuration === undefined || copiesOf(configuration).length === 1) return undefined;
    for (const one of [configuration, ...maybes]) {
      for (const node of needsOf(one)) {
        const number = leases.held(node, now);
        const isSame = this.#core.is("a lease that had ended is relied on again") || number === this.#needs?.get(node);
        if (number === undefined || !isSame) return `the primary holds no lease of '${node}'`;
      }
    }
    return undefined;
  }

  /** Takes up the leases that the configuration asks for, and that of a copy that is to be in sync. */
  capture(configuration: ShardConfiguration, candidate: CopyName | undefined): void {
    const core = this.#core;
    // A change that was proposed before that may still be made, and says nothing of what happened since.
    const known = configuration.version + (core.maybes.length > 0 ? 1 : 0);
    if (this.#needs !== undefined && this.fault() !== undefined) this.#endedAt ??= known;
    if (this.#endedAt !== undefined && configuration.version > this.#endedAt) {
      const areSure = needsOf(configuration).every((node) => this.#isUnbroken(node));
      this.#endedAt = areSure ? undefined : known;
    }
    const hasEnded = this.#endedAt !== undefined;
    const wanted = [...[configuration, ...core.maybes].flatMap(needsOf), ...this.#wider];
    this.#wider = [];
    const needs = hasEnded ? undefined : this.#held(candidate === undefined ? wanted : [...wanted, nodeOf(candidate)]);
    if (needs === undefined) {
      // Another change decides that nobody took over, and that what may still be made is not.
      if (hasEnded || core.maybes.length > 0) this.#touch(configuration);
      core.wakeAfter(core.timing.resendMs);
      return;
    }
    const isSame =
      this.#needs?.size === needs.size && [...needs].every(([node, number]) => this.#needs?.get(node) === number);
    if (isSame && this.#lead > 0) return;
    this.#needs = needs;
    this.#lead++;
  }

  #touch(configuration: ShardConfiguration): void {
    const core = this.#core;
    const held = this.#held(needsOf(configuration));
    if (held === undefined || !core.mayPropose()) return;
    this.#asked = held;
    core.propose(touched(configuration));
  }

  /** Whether the lease of the node has been held since it was relied on, or since the last `touched` was proposed. */
  #isUnbroken(node: string): boolean {
    const number = this.#core.leases.held(node, this.#core.now);
    return number !== undefined && [this.#needs?.get(node), this.#asked?.get(node)].includes(number);
  }

  /** True: all of `nodes` are relied on already. Else they are from now on, as far as they are held. */
  widen(nodes: readonly string[]): boolean {
    const missing = nodes.filter((node) => !this.#needs?.has(node));
    // Else they would be given up before the others know.
    if (this.#held(nodes) !== undefined) this.#wider = nodes;
    if (missing.length === 0) return true;
    const held = this.#held(missing);
    if (held === undefined) return false;
    this.#needs = new Map([...(this.#needs ?? []), ...held]);
    this.#lead++;
    return false;
  }

  #held(nodes: readonly string[]): ReadonlyMap<string, number> | undefined {
    const { leases, now, timing } = this.#core;
    const held = new Map<string, number>();
    for (const node of nodes) {
      const number = leases.held(node, now);
      if (number === undefined) {
        this.#core.wakeAfter(timing.resendMs);
        return undefined;
      }
      held.set(node, number);
    }
    return held;
  }
}
