import { once } from "node:events";
import type { SchemaReplica } from "@shoal/cluster";

/** Resolves when there is a schema, or when the process is told to stop before: whether there is one. */
export async function untilKnown(view: SchemaReplica, stopping: AbortSignal): Promise<boolean> {
  if (view.isKnown || stopping.aborted) return view.isKnown;
  const stopped = once(stopping, "abort");
  let subscription: Disposable | undefined;
  const known = new Promise<void>((resolve) => {
    subscription = view.onChange(() => resolve());
  });
  await Promise.race([known, stopped]);
  subscription?.[Symbol.dispose]();
  return view.isKnown;
}
