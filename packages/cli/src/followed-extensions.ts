import type { Json } from "@shoal/model";
import type { ExtensionStore } from "@shoal/module-api";
import type { ExtensionService, ExtensionsSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** The extensions of the coordinator, as the modules of this process know them. */
export class FollowedExtensions implements ExtensionStore, Disposable {
  readonly #service: ExtensionService;
  readonly #subscription: Disposable;
  readonly #listeners = new Set<() => void>();
  #snapshot: ExtensionsSnapshot | undefined;

  /** `remembered`: those that this process knew last, which it uses until the coordinator sends them. */
  constructor(service: ExtensionService, remembered?: ExtensionsSnapshot) {
    this.#service = service;
    this.#snapshot = remembered;
    this.#subscription = service.watch((snapshot) => {
      this.#snapshot = snapshot;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  /** Undefined until any are known: those of the coordinator, or remembered ones. */
  get snapshot(): ExtensionsSnapshot | undefined {
    return this.#snapshot;
  }

  get entries(): ReadonlyMap<string, Json> {
    return this.#snapshot?.entries ?? NONE;
  }

  put(key: string, value: Json, context: RequestContext): Promise<void> {
    return this.#service.put(key, value, context);
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#listeners.clear();
  }
}

const NONE: ReadonlyMap<string, Json> = new Map();
