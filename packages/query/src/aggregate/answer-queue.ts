import { Gate, type RequestContext, type RowBytes } from "@shoal/runtime";

/**
 * Lets the aggregations of one answer be made one after another: all at once they would only hold more, and keep others
 * from their turns. What counts the bytes of an answer names it.
 */
export class AnswerQueue {
  readonly #gates = new WeakMap<RowBytes, Gate>();

  /**
   * In the order of the calls, whether those before fail or not. At once when nothing names the answer. Whoever waits fails
   * with the signal's reason when it fires.
   */
  run<Result>(context: RequestContext, work: () => Promise<Result>): Promise<Result> {
    const { rowBytes } = context;
    if (rowBytes === undefined) return work();
    let gate = this.#gates.get(rowBytes);
    if (gate === undefined) {
      gate = new Gate({ max: 1 });
      this.#gates.set(rowBytes, gate);
    }
    return gate.run(1, context, work);
  }
}
