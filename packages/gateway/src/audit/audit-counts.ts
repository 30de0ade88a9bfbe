import type { AuditFields } from "./audit-line.js";

/** Kinds of events that are counted one by one in a window, as long as one owner has all of them. */
export const COUNTED_KINDS_MAX = 1_024;

/** Owners of events that are counted in a window. */
export const COUNTED_OWNERS_MAX = 256;

/** Events of one kind since the window began. */
export interface CountedEvents {
  readonly owner: string;
  /** Of the first one. */
  readonly fields: AuditFields;
  /** Undefined: of any. */
  readonly address: string | undefined;
  readonly firstMs: number;
  lastMs: number;
  requests: number;
  /** Of what was written. */
  accepted: number;
  refused: number;
}

/** An event that is counted. */
export interface CountableEvent {
  /** Who has a part of the kinds of his own: a user, or all strangers together. */
  readonly owner: string;
  /** What distinguishes it from other events, its owner included. */
  readonly kind: string;
  readonly address: string | undefined;
  /** Asked for the first event of a kind alone. */
  readonly describe: () => AuditFields;
  /** What a line says of events of the owner that are counted together, beside how they ended. */
  readonly whose: () => Readonly<Record<string, unknown>>;
}

/**
 * Events that come by the thousand, counted by kind until they are taken: neither clients nor strangers decide how many lines
 * there are. Of `n` owners one has the n-th part of all kinds; his events beyond it are counted together, by how they ended. So
 * nobody takes another's names out of the log, and all kinds are at most `max · (1 + 1/2 + … + 1/n)`, with four more an owner.
 */
export class AuditCounts {
  readonly #kinds = new Map<string, CountedEvents>();
  /** How many kinds an owner has. */
  readonly #sizes = new Map<string, number>();
  readonly #kindsMax: number;
  readonly #ownersMax: number;

  constructor(kindsMax = COUNTED_KINDS_MAX, ownersMax = COUNTED_OWNERS_MAX) {
    this.#kindsMax = kindsMax;
    this.#ownersMax = ownersMax;
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  /** Whether events of the owner can be counted; else all must be taken before. */
  hasRoomFor(owner: string): boolean {
    return this.#sizes.size < this.#ownersMax || this.#sizes.has(owner);
  }

  /** The events of the same kind, to be counted up. */
  of(event: CountableEvent, nowMs: number): CountedEvents {
    const { owner, kind, address, describe } = event;
    const known = this.#kinds.get(kind);
    if (known !== undefined) {
      known.lastMs = nowMs;
      return known;
    }
    const size = this.#sizes.get(owner) ?? 0;
    const owners = this.#sizes.size + (size === 0 ? 1 : 0);
    if (size > 0 && size >= Math.floor(this.#kindsMax / owners)) return this.#ofOthers(event, nowMs);
    return this.#begin(owner, kind, nowMs, address, describe());
  }

  /** Takes out those of an address, in the order of their first events, and those that have no address; all when absent. */
  take(address?: string): readonly CountedEvents[] {
    const taken: CountedEvents[] = [];
    for (const [kind, counted] of this.#kinds) {
      if (address !== undefined && counted.address !== undefined && counted.address !== address) continue;
      taken.push(counted);
      this.#kinds.delete(kind);
      const left = (this.#sizes.get(counted.owner) ?? 0) - 1;
      if (left > 0) this.#sizes.set(counted.owner, left);
      else this.#sizes.delete(counted.owner);
    }
    return taken;
  }

  #ofOthers({ owner, describe, whose }: CountableEvent, nowMs: number): CountedEvents {
    const { outcome } = describe();
    const kind = `others ${outcome} ${owner}`;
    const known = this.#kinds.get(kind);
    if (known === undefined)
      return this.#begin(owner, kind, nowMs, undefined, { action: "others", outcome, ...whose() });
    known.lastMs = nowMs;
    return known;
  }

  #begin(owner: string, kind: string, nowMs: number, address: string | undefined, fields: AuditFields): CountedEvents {
    const counted = { owner, fields, address, firstMs: nowMs, lastMs: nowMs, requests: 0, accepted: 0, refused: 0 };
    this.#kinds.set(kind, counted);
    this.#sizes.set(owner, (this.#sizes.get(owner) ?? 0) + 1);
    return counted;
  }
}
