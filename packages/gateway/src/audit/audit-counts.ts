import type { AuditFields } from "./audit-line.js";

/** Kinds of events that are counted one by one in a window; what comes beyond them is counted together. */
export const COUNTED_KINDS_MAX = 1_024;

/** Events of one kind since the window began. */
export interface CountedEvents {
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

/** Events that come by the thousand, counted by kind until they are taken: neither clients nor strangers decide how many lines there are. */
export class AuditCounts {
  readonly #kinds = new Map<string, CountedEvents>();
  readonly #kindsMax: number;

  constructor(kindsMax = COUNTED_KINDS_MAX) {
    this.#kindsMax = kindsMax;
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  /** The events of a kind, to be counted up; `describe` is only asked at the first one. */
  of(kind: string, nowMs: number, address: string | undefined, describe: () => AuditFields): CountedEvents {
    const known = this.#kinds.get(kind);
    if (known !== undefined) {
      known.lastMs = nowMs;
      return known;
    }
    if (this.#kinds.size >= this.#kindsMax) return this.#ofOthers(nowMs, describe);
    return this.#begin(kind, nowMs, address, describe());
  }

  /** Takes out those of an address, in the order of their first events, and those that have no address; all when absent. */
  take(address?: string): readonly CountedEvents[] {
    const taken: CountedEvents[] = [];
    for (const [kind, counted] of this.#kinds) {
      if (address !== undefined && counted.address !== undefined && counted.address !== address) continue;
      taken.push(counted);
      this.#kinds.delete(kind);
    }
    return taken;
  }

  /** What they share is how they ended. */
  #ofOthers(nowMs: number, describe: () => AuditFields): CountedEvents {
    const { outcome } = describe();
    const kind = `others ${outcome}`;
    const known = this.#kinds.get(kind);
    if (known === undefined) return this.#begin(kind, nowMs, undefined, { action: "others", outcome });
    known.lastMs = nowMs;
    return known;
  }

  #begin(kind: string, nowMs: number, address: string | undefined, fields: AuditFields): CountedEvents {
    const counted = { fields, address, firstMs: nowMs, lastMs: nowMs, requests: 0, accepted: 0, refused: 0 };
    this.#kinds.set(kind, counted);
    return counted;
  }
}
