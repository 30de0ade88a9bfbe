import { InFlight } from "@shoal/in-flight";
import type { Share } from "./share.js";

/** What takes a part of a budget: a body that is read, an answer that is sent. */
export interface Holder {
  /** Only asked when room is scarce. */
  readonly share: Share;
  /** How fast it gets on, in a unit that all holders of a budget have in common; undefined: it cannot be cut off now. */
  speed(): number | undefined;
  /** The holder gives way to others. What it held has been given back already, and nothing can be taken any more. */
  cutOff(): void;
}

/** A part of a budget that is kept for owners that hold little. */
const RESERVE = 1 / 8;

/** Whoever holds more does not get at the reserve. */
const SMALL_PART = 1 / 4;

export interface BudgetOptions {
  /** How many may hold a part of it. */
  readonly holdersMax?: number;
}

/**
 * Bounds what many hold of something, bytes of memory for instance, and says who has to give way when it is all taken.
 *
 * An owner may hold nearly all of it while nobody else wants any: the last eighth is not for whoever holds more than a quarter, in
 * more than one part. Where there is no room, the owner that holds most gives way when it is another one and holds more
 * than the one who asks would, else the one who asks; and of his, what gets on slowest. So owners that want more than
 * there is end up with equal parts, and nobody is refused while something of his own stalls.
 *
 * While there is room, nothing is looked up; else each attempt looks at all holders.
 */
export class Budget<One extends Holder = Holder> {
  readonly max: number;
  readonly #holdersMax: number;
  readonly #parent: Budget<One> | undefined;
  /** Of this budget and its children, kept by the root. */
  readonly #holdings: InFlight<OpenHolding<One>>;
  #held = 0;
  #holders = 0;

  constructor(max: number, options: BudgetOptions = {}, parent?: Budget<One>) {
    this.max = max;
    this.#holdersMax = options.holdersMax ?? Number.POSITIVE_INFINITY;
    this.#parent = parent;
    this.#holdings = parent === undefined ? new InFlight() : parent.#holdings;
  }

  get held(): number {
    return this.#held;
  }

  get holders(): number {
    return this.#holders;
  }

  /** A part of this budget with a bound of its own: what is taken from it is taken from both. */
  child(max: number, options: BudgetOptions = {}): Budget<One> {
    return new Budget(max, options, this);
  }

  /** Begins to hold nothing; undefined when too many hold a part and none of them has to give way. */
  open(holder: One): Holding | undefined {
    const holding = new OpenHolding(holder, this);
    for (let budget: Budget<One> | undefined = this; budget !== undefined; budget = budget.#parent) {
      if (budget.#holders >= budget.#holdersMax && !budget.#makeRoom(holding, 0)) return undefined;
    }
    holding.number = this.#holdings.add(holding);
    for (let budget: Budget<One> | undefined = this; budget !== undefined; budget = budget.#parent) budget.#holders++;
    return holding;
  }

  /** Whoever holds a part of it or its children. They may close it meanwhile. */
  *[Symbol.iterator](): IterableIterator<One> {
    for (const { holder } of this.#within()) yield holder;
  }

  /** For {@link Holding} alone. */
  take(holding: OpenHolding<One>, amount: number): boolean {
    if (amount === 0) return true;
    for (let budget: Budget<One> | undefined = this; budget !== undefined; budget = budget.#parent) {
      const isCalm = budget.#held + amount <= budget.max * (1 - RESERVE);
      if (!isCalm && !budget.#makeRoom(holding, amount)) return false;
    }
    this.#add(amount);
    return true;
  }

  /** For {@link Holding} alone. */
  give(amount: number): void {
    this.#add(-amount);
  }

  /** For {@link Holding} alone. */
  close(holding: OpenHolding<One>): void {
    this.#holdings.remove(holding.number);
    this.#add(-holding.held);
    for (let budget: Budget<One> | undefined = this; budget !== undefined; budget = budget.#parent) budget.#holders--;
  }

  #add(amount: number): void {
    for (let budget: Budget<One> | undefined = this; budget !== undefined; budget = budget.#parent)
      budget.#held += amount;
  }

  /** Whether there is room for `amount` more, or for one more holder when that is 0, others having been cut off for it. */
  #makeRoom(asking: OpenHolding<One>, amount: number): boolean {
    for (;;) {
      const parts = new OwnerParts(this.#within());
      const owner = asking.holder.share.owner;
      if (amount === 0 ? this.#holders < this.#holdersMax : this.#fits(asking, amount, parts.of(owner))) return true;
      const slowest = this.#toCutOff(asking, amount, parts);
      if (slowest === undefined || slowest === asking) return false;
      slowest.cutOff();
    }
  }

  #fits(asking: OpenHolding<One>, amount: number, own: Part): boolean {
    if (this.#held + amount > this.max) return false;
    const isLarge = own.held + amount > this.max * SMALL_PART && own.held > asking.held;
    return !isLarge || this.#held + amount <= this.max * (1 - RESERVE);
  }

  /** Who gives way; `asking` itself where that is the slowest. */
  #toCutOff(asking: OpenHolding<One>, amount: number, parts: OwnerParts): OpenHolding<One> | undefined {
    const isCounted = amount === 0;
    const { owner } = asking.holder.share;
    const sizeOf = (other: string): number => {
      const { held, holders } = parts.of(other);
      const wanted = other === owner ? Math.max(amount, 1) : 0;
      return (isCounted ? holders : held) + wanted;
    };
    const own = sizeOf(owner);
    let chosen: Candidate<One> | undefined;
    const consider = (holding: OpenHolding<One>): void => {
      const speed = holding.holder.speed();
      if (speed === undefined || (!isCounted && holding.held === 0 && holding !== asking)) return;
      const { owner: other } = holding.holder.share;
      const candidate = { holding, speed, size: sizeOf(other) };
      if (other !== owner && candidate.size <= own) return;
      if (chosen === undefined || goesBefore(candidate, chosen, asking)) chosen = candidate;
    };
    consider(asking);
    for (const holding of this.#within()) if (holding !== asking) consider(holding);
    return chosen?.holding;
  }

  *#within(): Iterable<OpenHolding<One>> {
    for (const [, holding] of this.#holdings) if (holding.isWithin(this)) yield holding;
  }

  /** Whether whoever holds so much is the only one who holds anything. */
  isAlone(held: number): boolean {
    for (let budget: Budget<One> | undefined = this; budget !== undefined; budget = budget.#parent) {
      if (budget.#held > held) return false;
    }
    return true;
  }

  /** Whether it is `other`, or a part of it. */
  isPartOf(other: Budget<One>): boolean {
    for (let budget: Budget<One> | undefined = this; budget !== undefined; budget = budget.#parent) {
      if (budget === other) return true;
    }
    return false;
  }
}

/** What one holder has of a budget. */
export interface Holding {
  readonly held: number;
  /** False, and nothing taken, when there is no room. */
  take(amount: number): boolean;
  /** As {@link take}; also when nobody else holds anything, however much it is. */
  takeAlone(amount: number): boolean;
  give(amount: number): void;
  /** Gives back everything. Nothing can be taken any more. */
  close(): void;
}

class OpenHolding<One extends Holder> implements Holding {
  /** Among all of the root budget. */
  number = 0;
  #held = 0;
  #isOpen = true;

  constructor(
    readonly holder: One,
    readonly budget: Budget<One>,
  ) {}

  get held(): number {
    return this.#held;
  }

  isWithin(budget: Budget<One>): boolean {
    return this.budget.isPartOf(budget);
  }

  take(amount: number): boolean {
    if (!this.#isOpen || !this.budget.take(this, amount)) return false;
    this.#held += amount;
    return true;
  }

  takeAlone(amount: number): boolean {
    if (this.take(amount)) return true;
    if (!this.#isOpen || !this.budget.isAlone(this.#held)) return false;
    this.budget.give(-amount);
    this.#held += amount;
    return true;
  }

  give(amount: number): void {
    const given = Math.min(amount, this.#held);
    this.#held -= given;
    this.budget.give(given);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.budget.close(this);
    this.#held = 0;
  }

  cutOff(): void {
    this.close();
    this.holder.cutOff();
  }
}

interface Candidate<One extends Holder> {
  readonly holding: OpenHolding<One>;
  readonly speed: number;
  /** What its owner holds. */
  readonly size: number;
}

/** Of the largest owner, the slowest; of those that are as slow the largest, but none for one that is no faster itself. */
function goesBefore<One extends Holder>(one: Candidate<One>, other: Candidate<One>, asking: OpenHolding<One>): boolean {
  if (one.size !== other.size) return one.size > other.size;
  if (one.speed !== other.speed) return one.speed < other.speed;
  return other.holding !== asking && one.holding.held > other.holding.held;
}

interface Part {
  held: number;
  holders: number;
}

const NOTHING: Part = { held: 0, holders: 0 };

/** What each owner holds. */
class OwnerParts {
  readonly #parts = new Map<string, Part>();

  constructor(holdings: Iterable<OpenHolding<Holder>>) {
    for (const { holder, held } of holdings) {
      const { owner } = holder.share;
      const part = this.#parts.get(owner);
      if (part === undefined) this.#parts.set(owner, { held, holders: 1 });
      else {
        part.held += held;
        part.holders++;
      }
    }
  }

  of(owner: string): Part {
    return this.#parts.get(owner) ?? NOTHING;
  }
}
