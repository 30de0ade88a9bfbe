import { ShoalError } from "@shoal/model";
import { ByteBudget, InnerContext, type RequestContext } from "@shoal/runtime";

/** What the rows that come from every shard at once may hold: most of them will not be in the page. */
const TRIAL_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Reads rows from several shards, each as many as the page has: cheapest while they are small. Undefined when they are
 * not; then whoever asks has to find out first which of them belong to the page.
 */
export async function rowsOnTrial<T>(
  context: RequestContext,
  read: (context: RequestContext) => Promise<T>,
): Promise<T | undefined> {
  const rowBytes: ByteBudget = new ByteBudget({
    max: TRIAL_BYTES_MAX,
    parent: context.rowBytes,
    fullError: () => {
      // All that came before is given back: none of it will be used.
      rowBytes.close();
      return new ShoalError("tooLarge", "the rows of all shards together are too large to try");
    },
  });
  try {
    return await read(new InnerContext(context, { rowBytes }));
  } catch (thrown) {
    if (rowBytes.isClosed) return undefined;
    throw thrown;
  }
}
