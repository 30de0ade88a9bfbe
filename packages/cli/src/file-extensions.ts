import type { Memory } from "@shoal/cluster";
import type { Json } from "@shoal/model";
import type { ExtensionStore } from "@shoal/module-api";

type Entries = Readonly<Record<string, Json>>;

/** Extensions of one process, as a whole in what it remembers. Writes come one after the other. */
export class FileExtensions implements ExtensionStore {
  readonly #memory: Memory<Entries>;
  readonly #listeners = new Set<() => void>();
  #entries: ReadonlyMap<string, Json>;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(memory: Memory<Entries>, entries: ReadonlyMap<string, Json>) {
    this.#memory = memory;
    this.#entries = entries;
  }

  /** Fails with `dataLoss` when what is stored is damaged. */
  static async open(memory: Memory<Entries>): Promise<FileExtensions> {
    return new FileExtensions(memory, new Map(Object.entries((await memory.load()) ?? {})));
  }

  get entries(): ReadonlyMap<string, Json> {
    return this.#entries;
  }

  put(key: string, value: Json): Promise<void> {
    const put = this.#turn.then(async () => {
      const entries = new Map([...this.#entries, [key, value]]);
      await this.#memory.store(Object.fromEntries(entries));
      this.#entries = entries;
      for (const listener of this.#listeners) listener();
    });
    this.#turn = put.catch(() => undefined);
    return put;
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }
}
