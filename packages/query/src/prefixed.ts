import { withPrefix } from "@shoal/model";

/** Runs `work`; an error of it keeps its code and gets `prefix` before its message. */
export async function prefixed<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw withPrefix(prefix, thrown);
  }
}
