import type { Memory } from "@shoal/cluster";
import { type Json, ShoalError } from "@shoal/model";
import type { ExtensionStore } from "@shoal/module-api";

/** All are kept in memory and written with every one that comes. */
const EXTENSIONS_MAX = 10_000;

type Entries = Readonly<Record<string, Json>>;

/** Extensions of one process, as a whole in what it remembers. Writes come one after the other. */
export class FileExtensions implements ExtensionStore {
  readonly #memory: Memory<Entries>;
  readonly #extensionsMax: number;
  readonly #listeners = new Set<() => void>();
  #entries: ReadonlyMap<string, Json>;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(memory: Memory<Entries>, entries: ReadonlyMap<string, Json>, extensionsMax: number) {
    this.#memory = memory;
    this.#extensionsMax = extensionsMax;
    this.#entries = entries;
  }

  /** Fails with `dataLoss` when what is stored is damaged. */
  static async open(memory: Memory<Entries>, extensionsMax = EXTENSIONS_MAX): Promise<FileExtensions> {
    return new FileExtensions(memory, new Map(Object.entries((await memory.load()) ?? {})), extensionsMax);
  }

  get entries(): ReadonlyMap<string, Json> {
    return this.#entries;
  }

  /** Fails with `tooLarge` when there are as many as may be. */
  put(key: string, value: Json): Promise<void> {
    const put = this.#turn.then(async () => {
      const { size } = this.#entries;
      if (size >= this.#extensionsMax && !this.#entries.has(key)) {
        throw new ShoalError(
          "tooLarge",
          `'${key}' cannot be stored: there are ${size} extensions, the most there may be`,
        );
      }
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
