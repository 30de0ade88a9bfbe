import type { SeededRandom } from "@shoal/seeded-random";

/** Ways `from>to` between nodes and the store. Until it is healed, messages are lost, late and doubled. */
export class SimulatedNetwork {
  readonly #random: SeededRandom;
  readonly #odds: { readonly loss: number; readonly doubles: number; readonly slow: number };
  /** Ways that nothing passes, and how many faults say so. */
  readonly #cut = new Map<string, number>();
  #isHealed = false;

  constructor(random: SeededRandom) {
    this.#random = random;
    const { next, oneIn } = random;
    this.#odds = { loss: oneIn(2) ? 0 : next() * 0.05, doubles: oneIn(2) ? 0 : 0.05, slow: oneIn(2) ? 0 : 0.02 };
  }

  heal(): void {
    this.#isHealed = true;
    this.#cut.clear();
  }

  cut(ways: readonly string[]): void {
    for (const way of ways) this.#cut.set(way, (this.#cut.get(way) ?? 0) + 1);
  }

  mend(ways: readonly string[]): void {
    for (const way of ways) this.#cut.set(way, (this.#cut.get(way) ?? 1) - 1);
  }

  isCut(from: string, to: string): boolean {
    return (this.#cut.get(`${from}>${to}`) ?? 0) > 0;
  }

  /** Whether a message that is sent now gets there. */
  passes(from: string, to: string): boolean {
    if (this.isCut(from, to)) return false;
    return this.#isHealed || this.#random.next() >= this.#odds.loss;
  }

  /** How often a message comes that is sent once. */
  times(): number {
    return !this.#isHealed && this.#random.next() < this.#odds.doubles ? 2 : 1;
  }

  /** Milliseconds. */
  delay(): number {
    const { next, oneIn } = this.#random;
    if (!this.#isHealed && next() < this.#odds.slow) return next() * (oneIn(10) ? 15_000 : 1_500);
    return 0.2 + next() * 2;
  }
}
