import type { Json } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { ExtensionService, ExtensionsSnapshot } from "../extension-service.js";
import { applyExtensions, wireExtension } from "../wire/extensions-update.js";
import type { Read } from "../wire/protobuf.js";
import { EXTENSIONS, type EXTENSIONS_UPDATE } from "../wire/services.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedSnapshot } from "./followed-snapshot.js";

/** The client of `ExtensionService`. */
export class CoordinatorExtensions implements ExtensionService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #followed: FollowedSnapshot<ExtensionsSnapshot, Read<typeof EXTENSIONS_UPDATE>>;

  constructor(calls: CoordinatorCalls) {
    this.#calls = calls;
    this.#followed = new FollowedSnapshot(calls, {
      watch: EXTENSIONS.Watch,
      current: EXTENSIONS.List,
      apply: applyExtensions,
    });
  }

  /** The same value put twice is there once. */
  async put(key: string, value: Json, context: RequestContext): Promise<void> {
    const request = { extension: wireExtension(key, value) };
    const position = await this.#calls.ask(EXTENSIONS.Put, request, context);
    // It is stored, whether somebody can tell of it now or not.
    await this.#followed.reach(position, context).catch(() => undefined);
  }

  list(context: RequestContext): Promise<ExtensionsSnapshot> {
    return this.#followed.current(context);
  }

  watchExtensions(listener: (snapshot: ExtensionsSnapshot) => void): Disposable {
    return this.#followed.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#followed[Symbol.dispose]();
  }
}
