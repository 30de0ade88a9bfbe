import type { KeyValueChange, KeyValueStore } from "@shoal/kv";
import { type Json, ShoalError } from "@shoal/model";
import { type MetaChange, type MetaState, type MetaStore, stateAfter } from "./meta-store.js";

/** Key prefixes on disk; a byte once given is never given again. */
const FORMAT_KEY = Buffer.from("f");
const REVISION_KEY = Buffer.from("r");
const HISTORY_KEY = Buffer.from("h");
const ENTRY_PREFIX = "e/";
const ENTRIES = { gte: Buffer.from("e/"), lt: Buffer.from("e0") };

/** Version of what this file writes. */
const FORMAT = 1;

/** MetaStore of a single coordinator, on a key-value store of its own. */
export class EmbeddedMetaStore implements MetaStore {
  readonly historyId: string;
  readonly #store: KeyValueStore;
  readonly #listeners = new Set<(state: MetaState) => void>();
  #state: MetaState;
  /** Commits run one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(store: KeyValueStore, historyId: string, state: MetaState) {
    this.historyId = historyId;
    this.#store = store;
    this.#state = state;
  }

  /**
   * Takes over `store`; `newHistoryId` names the history of an empty one. Fails with `invalid` on data of a newer format,
   * with `dataLoss` on damaged records.
   */
  static async open(store: KeyValueStore, newHistoryId: () => string): Promise<EmbeddedMetaStore> {
    const historyId = await openHistory(store, newHistoryId);
    const revision = await store.get(REVISION_KEY);
    const entries = new Map<string, Json>();
    for await (const chunk of store.scan(ENTRIES)) {
      for (const { key, value } of chunk) {
        entries.set(Buffer.from(key).toString().slice(ENTRY_PREFIX.length), decode(value));
      }
    }
    return new EmbeddedMetaStore(store, historyId, {
      revision: revision === undefined ? 0 : Number(decode(revision)),
      entries,
    });
  }

  async load(): Promise<MetaState> {
    return this.#state;
  }

  commit(expectedRevision: number, changes: readonly MetaChange[]): Promise<number | undefined> {
    const result = this.#turn.then(() => this.#commit(expectedRevision, changes));
    this.#turn = result.catch(() => undefined);
    return result;
  }

  watch(listener: (state: MetaState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn;
    await this.#store[Symbol.asyncDispose]();
  }

  async #commit(expectedRevision: number, changes: readonly MetaChange[]): Promise<number | undefined> {
    if (expectedRevision !== this.#state.revision) return undefined;
    const revision = expectedRevision + 1;
    await this.#store.write([
      { type: "put", key: REVISION_KEY, value: encode(revision) },
      ...changes.map(
        ({ key, value }): KeyValueChange =>
          value === undefined
            ? { type: "del", key: entryKey(key) }
            : { type: "put", key: entryKey(key), value: encode(value) },
      ),
    ]);
    this.#state = stateAfter(this.#state, changes);
    for (const listener of this.#listeners) listener(this.#state);
    return revision;
  }
}

async function openHistory(store: KeyValueStore, newHistoryId: () => string): Promise<string> {
  const format = await store.get(FORMAT_KEY);
  if (format !== undefined) checkFormat(decode(format));
  const history = await store.get(HISTORY_KEY);
  if (history !== undefined) return String(decode(history));
  const historyId = newHistoryId();
  await store.write([
    { type: "put", key: FORMAT_KEY, value: encode(FORMAT) },
    { type: "put", key: HISTORY_KEY, value: encode(historyId) },
  ]);
  return historyId;
}

function checkFormat(format: Json): void {
  if (typeof format !== "number" || format > FORMAT) {
    throw new ShoalError(
      "invalid",
      `the schema on disk has format ${JSON.stringify(format)}, this version of Shoal reads up to ${FORMAT}: start a newer version`,
    );
  }
}

function entryKey(key: string): Buffer {
  return Buffer.from(ENTRY_PREFIX + key);
}

function encode(value: Json): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function decode(bytes: Uint8Array): Json {
  return JSON.parse(Buffer.from(bytes).toString()) as Json;
}
