/** Bounds the bytes of all request bodies that the process holds at the same time. */
export class BodyBudget {
  #held = 0;

  constructor(readonly bytesMax: number) {}

  get held(): number {
    return this.#held;
  }

  /** False, and nothing taken, when there is no room. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.bytesMax) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}
