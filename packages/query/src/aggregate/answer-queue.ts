import type { RowBytes } from "@shoal/model";
import type { RequestContext } from "@shoal/rpc";

/**
 * Lets the aggregations of one answer be made one after another: all at once they would only hold more, and keep others
 * from their turns. What counts the bytes of an answer names it.
 */
export class AnswerQueue {
  readonly #last = new WeakMap<RowBytes, Promise<void>>();

  /**
   * In the order of the calls, whether those before fail or not. At once when nothing names the answer. Whoever waits fails
   * with the signal's reason when it has fired.
   */
  run<Result>(context: RequestContext, work: () => Promise<Result>): Promise<Result> {
    const { rowBytes } = context;
    if (rowBytes === undefined) return work();
    const before = this.#last.get(rowBytes);
    const later = () => {
      context.signal?.throwIfAborted();
      return work();
    };
    const result = before === undefined ? work() : before.then(later);
    this.#last.set(rowBytes, result.then(ignore, ignore));
    return result;
  }
}

function ignore(): void {}
