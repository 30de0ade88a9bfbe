import { InFlight } from "./in-flight.js";
import type { Share } from "./request-context.js";

/** What takes a part of a budget: a body that is read, a response that is sent. */
export interface Holder {
  /** Asked once, when it begins. */
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

/** So many owners are tried in one attempt whose holders cannot be cut off, the largest first. */
const OWNERS_TRIED_MAX = 32;

/** So many owners are remembered that hold nothing. */
const OWNERS_KEPT = 64;

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
 * While there is room, nothing is looked up; else each attempt looks at what each owner has. Of one owner's holders it
 * looks at {@link LOOKED_AT} on average, see {@link Slowest}.
 */
export class Budget<One extends Holder = Holder> {
  readonly max: number;
  readonly #holdersMax: number;
  readonly #holdings = new InFlight<OpenHolding<One>>();
  readonly #parts = new Map<string, OwnerPart<One>>();
  #held = 0;
  #ticks = 0;

  constructor(max: number, options: BudgetOptions = {}) {
    this.max = max;
    this.#holdersMax = options.holdersMax ?? Number.POSITIVE_INFINITY;
  }

  get held(): number {
    return this.#held;
  }

  get holders(): number {
    return this.#holdings.size;
  }

  /** Begins to hold nothing; undefined when too many hold a part and none of them has to give way. */
  open(holder: One): Holding | undefined {
    const { owner } = holder.share;
    const holding = new OpenHolding(holder, this, this.#parts.get(owner) ?? new OwnerPart<One>(owner));
    if (this.holders >= this.#holdersMax && !this.#makeRoom(holding, 0)) return undefined;
    // Whoever gave way may have been the last one of this owner.
    this.#parts.set(owner, holding.part);
    holding.part.add(holding);
    holding.number = this.#holdings.add(holding);
    return holding;
  }

  /** The speeds of holders are others now: the slowest are looked for again. */
  tick(): void {
    this.#ticks++;
  }

  /** Whoever holds a part of it. They may close it meanwhile. */
  *[Symbol.iterator](): IterableIterator<One> {
    for (const [, { holder }] of this.#holdings) if (holder !== undefined) yield holder;
  }

  /** For {@link Holding} alone. */
  take(holding: OpenHolding<One>, amount: number): boolean {
    if (amount === 0) return true;
    const isCalm = this.#held + amount <= this.max * (1 - RESERVE);
    if (!isCalm && !this.#makeRoom(holding, amount)) return false;
    this.add(holding, amount);
    return true;
  }

  /** For {@link Holding} alone: without asking for room, and back when negative. */
  add({ part }: OpenHolding<One>, amount: number): void {
    this.#held += amount;
    part.held += amount;
  }

  /** For {@link Holding} alone. */
  close(holding: OpenHolding<One>): void {
    const { part } = holding;
    this.#holdings.remove(holding.number);
    this.add(holding, -holding.held);
    part.remove(holding);
    // Owners come back: a Map that they leave each time keeps what they had (see `InFlight`).
    if (part.holdings.length === 0 && this.#parts.size > OWNERS_KEPT) this.#parts.delete(part.owner);
  }

  /** Whether whoever holds so much is the only one who holds anything. */
  isAlone(held: number): boolean {
    return this.#held <= held;
  }

  /** Whether there is room for `amount` more, or for one more holder when that is 0, others having been cut off for it. */
  #makeRoom(asking: OpenHolding<One>, amount: number): boolean {
    while (amount === 0 ? this.holders >= this.#holdersMax : !this.#fits(asking, amount)) {
      const slowest = this.#toCutOff(asking, amount);
      if (slowest === undefined) return false;
      slowest.cutOff();
    }
    return true;
  }

  #fits(asking: OpenHolding<One>, amount: number): boolean {
    if (this.#held + amount > this.max) return false;
    const { held } = asking.part;
    const isLarge = held + amount > this.max * SMALL_PART && held > asking.held;
    return !isLarge || this.#held + amount <= this.max * (1 - RESERVE);
  }

  /** Who gives way; undefined where that is the one who asks. */
  #toCutOff(asking: OpenHolding<One>, amount: number): OpenHolding<One> | undefined {
    const sizeOf = ({ held, holdings }: OwnerPart<One>): number => (amount === 0 ? holdings.length : held);
    const own = sizeOf(asking.part) + Math.max(amount, 1);
    const tried = new Set([asking.part]);
    while (tried.size <= OWNERS_TRIED_MAX) {
      let largest: OwnerPart<One> | undefined;
      let most = own;
      for (const part of this.#parts.values()) {
        const size = sizeOf(part);
        if (size <= most || tried.has(part)) continue;
        largest = part;
        most = size;
      }
      if (largest === undefined) break;
      const slowest = largest.slowest(amount === 0, this.#ticks);
      if (slowest !== undefined) return slowest;
      tried.add(largest);
    }
    const slowest = asking.part.slowest(amount === 0, this.#ticks);
    const speed = asking.speed();
    // Nothing for one that is no faster itself.
    return slowest !== asking && (speed === undefined || (slowest?.speed() ?? speed) < speed) ? slowest : undefined;
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
  /** Among all of the budget. */
  number = 0;
  /** Among those of its owner. */
  place = 0;
  #held = 0;
  /** Undefined once it is closed: it may be remembered a little longer, what its holder has must not. */
  #holder: One | undefined;

  constructor(
    holder: One,
    readonly budget: Budget<One>,
    readonly part: OwnerPart<One>,
  ) {
    this.#holder = holder;
  }

  get holder(): One | undefined {
    return this.#holder;
  }

  speed(): number | undefined {
    return this.#holder?.speed();
  }

  get held(): number {
    return this.#held;
  }

  take(amount: number): boolean {
    if (this.#holder === undefined || !this.budget.take(this, amount)) return false;
    this.#held += amount;
    return true;
  }

  takeAlone(amount: number): boolean {
    if (this.take(amount)) return true;
    if (this.#holder === undefined || !this.budget.isAlone(this.#held)) return false;
    this.budget.add(this, amount);
    this.#held += amount;
    return true;
  }

  give(amount: number): void {
    const given = Math.min(amount, this.#held);
    this.#held -= given;
    this.budget.add(this, -given);
  }

  close(): void {
    if (this.#holder === undefined) return;
    this.#holder = undefined;
    this.budget.close(this);
    this.#held = 0;
  }

  cutOff(): void {
    const holder = this.#holder;
    this.close();
    holder?.cutOff();
  }
}

/** What one owner holds. */
class OwnerPart<One extends Holder> {
  readonly holdings: OpenHolding<One>[] = [];
  held = 0;
  readonly #slowest = new Slowest(this.holdings, () => true);
  /** Of those that would give something back. */
  readonly #slowestThatHold = new Slowest(this.holdings, ({ held }) => held > 0);

  constructor(readonly owner: string) {}

  add(holding: OpenHolding<One>): void {
    holding.place = this.holdings.push(holding) - 1;
  }

  remove({ place }: OpenHolding<One>): void {
    const last = this.holdings.pop();
    if (last === undefined || last.place === place) return;
    last.place = place;
    this.holdings[place] = last;
  }

  /** Undefined when none can be cut off. */
  slowest(isCounted: boolean, ticks: number): OpenHolding<One> | undefined {
    return (isCounted ? this.#slowest : this.#slowestThatHold).next(ticks);
  }
}

/** So many holders an attempt looks at, on average, when it looks for the slowest one of an owner. */
const LOOKED_AT = 32;

/**
 * Finds the slowest of many without looking at all of them each time: each look remembers one of {@link LOOKED_AT} of them, the
 * slowest, and serves as many attempts, until the next tick at the latest.
 */
class Slowest<One extends Holder> {
  /** The slowest last. */
  #remembered: OpenHolding<One>[] = [];
  #attemptsLeft = 0;
  #ticks = 0;

  constructor(
    readonly of: readonly OpenHolding<One>[],
    readonly isWanted: (holding: OpenHolding<One>) => boolean,
  ) {}

  next(ticks: number): OpenHolding<One> | undefined {
    if (this.#attemptsLeft === 0 || this.#ticks !== ticks) this.#look();
    this.#ticks = ticks;
    this.#attemptsLeft--;
    for (;;) {
      const slowest = this.#remembered.at(-1);
      if (slowest === undefined) return undefined;
      if (this.isWanted(slowest) && slowest.speed() !== undefined) return slowest;
      this.#remembered.pop();
    }
  }

  /** Of those that are as slow as each other the largest goes first. */
  #look(): void {
    const seen: { readonly holding: OpenHolding<One>; readonly speed: number }[] = [];
    for (const holding of this.of) {
      const speed = this.isWanted(holding) ? holding.speed() : undefined;
      if (speed !== undefined) seen.push({ holding, speed });
    }
    seen.sort((one, other) =>
      one.speed === other.speed ? other.holding.held - one.holding.held : one.speed < other.speed ? -1 : 1,
    );
    this.#attemptsLeft = Math.ceil(this.of.length / LOOKED_AT);
    this.#remembered = seen
      .slice(0, this.#attemptsLeft)
      .map(({ holding }) => holding)
      .reverse();
  }
}
