import type { CopyEffect, CopyMessage } from "./copy-messages.js";
import type { NodeLeases } from "./node-leases.js";
import { type CopyName, nodeOf, type ShardConfiguration, steppedBack } from "./shard-configuration.js";
import type { Timing } from "./timing.js";

export interface ClosedCopyOptions {
  readonly node: string;
  /** Names the shard among all of the node. */
  readonly shard: string;
  readonly leases: NodeLeases;
  readonly timing: Timing;
}

/**
 * A copy whose node lives and which is not open: it is being opened, or that has failed. It answers nothing. It goes on asking for what
 * it had still to hear, and gives its place as primary to a copy that is open, as nobody else takes it while its node is heard.
 */
export class ClosedCopy {
  readonly #options: ClosedCopyOptions;
  #lateAt: number;
  #hasFailed = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** The version of which others are asked; undefined: somebody has answered. */
  #asked: number | undefined;

  constructor(options: ClosedCopyOptions, now: number) {
    this.#options = options;
    this.#lateAt = now + options.timing.silenceMs;
  }

  /** The copy is not open from now on. */
  static begin(options: ClosedCopyOptions, now: number): ClosedCopy {
    options.leases.closed(options.shard);
    return new ClosedCopy(options, now);
  }

  /** It will not be open soon. */
  failed(now: number): void {
    this.#lateAt = Math.min(this.#lateAt, now);
    this.#hasFailed = true;
  }

  /** What is due, to be asked ten times a second. */
  step(configuration: ShardConfiguration, now: number): readonly CopyEffect[] {
    const { leases, shard, timing } = this.#options;
    const effects: CopyEffect[] = leases.dueRevocations(shard, now).map(({ copy, last }) => ({
      type: "send",
      to: copy,
      message: { type: "revoke", last, version: configuration.version },
    }));
    if (now < this.#lateAt || now < this.#askedAt + timing.resendMs) return effects;
    const { version } = configuration;
    const others = this.#successors(configuration);
    this.#askedAt = now;
    this.#asked = version;
    return [
      ...effects,
      ...others.map((to) => ({ type: "send", to, message: { type: "askEnd", version, isOpen: false } }) as const),
    ];
  }

  message(from: CopyName, message: CopyMessage, configuration: ShardConfiguration | undefined): readonly CopyEffect[] {
    const { leases, shard } = this.#options;
    if (message.type === "revoke") {
      const { last, version } = message;
      if (configuration !== undefined && last.epoch > configuration.epoch) return [{ type: "refresh" }];
      // Nobody reads on account of it, nor will.
      leases.confirmRevoked(shard, last);
      return [{ type: "send", to: from, message: { type: "revoked", version } }];
    }
    if (message.type === "revoked") leases.revoked(shard, from, message.version);
    if (message.type !== "end" || configuration === undefined || message.version !== this.#asked) return [];
    if (configuration.version !== this.#asked || !this.#successors(configuration).includes(from)) return [];
    this.#asked = undefined;
    return [{ type: "propose", next: steppedBack(configuration, from) }];
  }

  /** Who may take its place. A shard that nobody has begun with is being made on all nodes. */
  #successors({ primary, claim, inSync, eligible, version }: ShardConfiguration): readonly CopyName[] {
    const isNew = version === 1 && claim === "" && !this.#hasFailed;
    if (isNew || nodeOf(primary) !== this.#options.node) return [];
    const others = inSync.filter((copy) => copy !== primary);
    return others.length > 0 ? others : eligible;
  }
}
