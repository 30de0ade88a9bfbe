/** Tells readers of the store when it holds exactly what the commits have applied: while none is under way. */
export class CommitGate {
  #underWay: Promise<void> | undefined;
  #finished = () => {};

  begin(): void {
    this.#underWay = new Promise((resolve) => {
      this.#finished = resolve;
    });
  }

  end(): void {
    this.#underWay = undefined;
    this.#finished();
  }

  get isIdle(): boolean {
    return this.#underWay === undefined;
  }

  /** A scan that begins in the same iteration as this resolves sees no half commit. */
  async idle(): Promise<void> {
    while (this.#underWay !== undefined) await this.#underWay;
  }
}
