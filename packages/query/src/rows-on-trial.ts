import { type RowBytes, ShoalError } from "@shoal/model";
import { InnerContext, type RequestContext } from "@shoal/rpc";

/** What the rows that come from every shard at once may hold: most of them will not be in the page. */
const TRIAL_BYTES_MAX = 16 * 1024 * 1024;

/** Counts on to another until there are too many; then all that came before is given back. */
class TrialBytes implements RowBytes {
  readonly #inner: RowBytes | undefined;
  #bytes = 0;
  isOver = false;

  constructor(inner: RowBytes | undefined) {
    this.#inner = inner;
  }

  add(bytes: number): void {
    if (!this.isOver && this.#bytes + bytes > TRIAL_BYTES_MAX) {
      this.isOver = true;
      this.#inner?.add(-this.#bytes);
    }
    if (this.isOver) throw new ShoalError("tooLarge", "the rows of all shards together are too large to try");
    this.#inner?.add(bytes);
    this.#bytes += bytes;
  }
}

/**
 * Reads rows from several shards, each as many as the page has: cheapest while they are small. Undefined when they are
 * not; then whoever asks has to find out first which of them belong to the page.
 */
export async function rowsOnTrial<T>(
  context: RequestContext,
  read: (context: RequestContext) => Promise<T>,
): Promise<T | undefined> {
  const rowBytes = new TrialBytes(context.rowBytes);
  try {
    return await read(new InnerContext(context, { rowBytes }));
  } catch (thrown) {
    if (rowBytes.isOver) return undefined;
    throw thrown;
  }
}
