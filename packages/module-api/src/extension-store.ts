import type { Json } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

/** Small values that modules keep for all processes, by key: e.g. the concepts that a user taught. */
export interface ExtensionStore {
  /** Everything that is known now, by key. */
  readonly entries: ReadonlyMap<string, Json>;
  /** Durable, and seen by `entries` of this process, when it resolves. Fails with `unavailable`. */
  put(key: string, value: Json, context: RequestContext): Promise<void>;
  /** Called whenever `entries` is another. */
  onChange(listener: () => void): Disposable;
}
