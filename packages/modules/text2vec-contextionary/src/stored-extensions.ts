import type { Json } from "@shoal/model";
import type { ExtensionStore } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { type Extension, extensionJson, readExtension } from "./vectors/extension.js";

const PREFIX = "text2vec-contextionary/";

/** The concepts that users taught, as all processes know them. */
export class StoredExtensions {
  readonly #store: ExtensionStore;
  #read:
    | { readonly entries: ReadonlyMap<string, Json>; readonly extensions: ReadonlyMap<string, Extension> }
    | undefined;

  constructor(store: ExtensionStore) {
    this.#store = store;
  }

  /** By concept; the same map until something changes. */
  get all(): ReadonlyMap<string, Extension> {
    const { entries } = this.#store;
    if (this.#read?.entries === entries) return this.#read.extensions;
    const extensions = new Map<string, Extension>();
    for (const [key, value] of entries) {
      const extension = key.startsWith(PREFIX) ? readExtension(value) : undefined;
      if (extension !== undefined) extensions.set(extension.concept, extension);
    }
    this.#read = { entries, extensions };
    return extensions;
  }

  /** As it is stored; undefined when there is none. */
  stored(key: string): Json | undefined {
    return this.#store.entries.get(PREFIX + key);
  }

  get allStored(): readonly Json[] {
    return [...this.#store.entries].filter(([key]) => key.startsWith(PREFIX)).map(([, value]) => value);
  }

  putStored(key: string, value: Json, context: RequestContext): Promise<void> {
    return this.#store.put(PREFIX + key, value, context);
  }

  put(extension: Extension, context: RequestContext): Promise<void> {
    return this.putStored(extension.concept, extensionJson(extension), context);
  }
}
