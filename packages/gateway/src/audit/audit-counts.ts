import type { AuditFields, AuditOutcome } from "./audit-line.js";

/** Kinds of events that are counted one by one in a window, as long as one owner has all of them. */
export const COUNTED_KINDS_MAX = 1_024;

/** Owners of events that are counted in a window. */
export const COUNTED_OWNERS_MAX = 256;

/** Events of one kind since the window began. */
export interface CountedEvents {
  /** Grows with each kind that is begun. */
  readonly number: number;
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
  readonly outcome: AuditOutcome;
  /** Asked for the first event of a kind alone. */
  readonly describe: () => AuditFields;
  /** What is the same of all events of the owner. Asked where they are counted together. */
  readonly describeOwner: () => Readonly<Record<string, unknown>>;
}

/**
 * Events that come by the thousand, counted by kind until they are taken: neither clients nor strangers decide how many lines
 * there are. Of `n` owners one has the n-th part of all kinds; his events beyond it are counted together, by how they ended. So
 * nobody takes another's names out of the log, and all kinds are at most `max · (1 + 1/2 + … + 1/n)`, with four more an owner.
 *
 * An event costs a look-up of its kind. To take the kinds of one address costs as much as there are of these, however many others
 * have.
 */
export class AuditCounts {
  /** By kind, in the order of their first events. */
  readonly #kinds = new Map<string, CountedEvents>();
  /** Those of each address, and of none, by kind. */
  readonly #byAddress = new Map<string | undefined, Map<string, CountedEvents>>();
  /** How many kinds each has. */
  readonly #owners = new Map<string, number>();
  #begun = 0;

  constructor(
    private readonly kindsMax = COUNTED_KINDS_MAX,
    private readonly ownersMax = COUNTED_OWNERS_MAX,
  ) {}

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  /** Whether events of the owner can be counted; else all must be taken before. */
  hasRoomFor(owner: string): boolean {
    return this.#owners.size < this.ownersMax || this.#owners.has(owner);
  }

  /** The events of the same kind, to be counted up. */
  of(event: CountableEvent, nowMs: number): CountedEvents {
    const { owner, outcome } = event;
    const known = this.#known(event.kind, nowMs);
    if (known !== undefined) return known;
    const kinds = this.#owners.get(owner);
    if (kinds === undefined || kinds < Math.floor(this.kindsMax / this.#owners.size)) {
      return this.#begin(event, nowMs);
    }
    // Beyond his part: only the outcome is logged, for which nothing of the event has to be described.
    const kind = `others ${outcome} ${owner}`;
    const describe = (): AuditFields => ({ action: "others", outcome, ...event.describeOwner() });
    return this.#known(kind, nowMs) ?? this.#begin({ owner, kind, address: undefined, describe }, nowMs);
  }

  /** Takes out those of an address, in the order of their first events, and those that have no address; all when absent. */
  take(address?: string): readonly CountedEvents[] {
    if (address === undefined) {
      const all = [...this.#kinds.values()];
      for (const known of [this.#kinds, this.#byAddress, this.#owners]) known.clear();
      return all;
    }
    const taken: CountedEvents[] = [];
    for (const place of [address, undefined]) {
      for (const [kind, counted] of this.#byAddress.get(place) ?? []) {
        taken.push(counted);
        this.#kinds.delete(kind);
        const left = (this.#owners.get(counted.owner) ?? 0) - 1;
        if (left > 0) this.#owners.set(counted.owner, left);
        else this.#owners.delete(counted.owner);
      }
      this.#byAddress.delete(place);
    }
    return taken.sort((a, b) => a.number - b.number);
  }

  #known(kind: string, nowMs: number): CountedEvents | undefined {
    const known = this.#kinds.get(kind);
    if (known !== undefined) known.lastMs = nowMs;
    return known;
  }

  #begin(
    { owner, kind, address, describe }: Pick<CountableEvent, "owner" | "kind" | "address" | "describe">,
    nowMs: number,
  ): CountedEvents {
    const counted: CountedEvents = {
      number: this.#begun++,
      owner,
      fields: describe(),
      address,
      firstMs: nowMs,
      lastMs: nowMs,
      requests: 0,
      accepted: 0,
      refused: 0,
    };
    this.#owners.set(owner, (this.#owners.get(owner) ?? 0) + 1);
    this.#kinds.set(kind, counted);
    const beside = this.#byAddress.get(address);
    if (beside === undefined) this.#byAddress.set(address, new Map([[kind, counted]]));
    else beside.set(kind, counted);
    return counted;
  }
}
