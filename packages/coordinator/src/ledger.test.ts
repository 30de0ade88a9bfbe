import { ShoalError } from "@shoal/model";
import { describe, expect, test } from "vitest";
import { Ledger } from "./ledger.js";
import { type MetaChange, type MetaState, type MetaStore, stateAfter } from "./meta-store.js";

const context = { deadline: Number.POSITIVE_INFINITY };

/** MetaStore whose results come when the test lets them. */
class HeldStore implements MetaStore {
  readonly historyId = "h";
  state: MetaState = { revision: 0, entries: new Map() };
  isHeld = false;
  loads = 0;
  commits = 0;
  readonly #waiting: ((error: ShoalError | undefined) => void)[] = [];
  #listener: (state: MetaState) => void = () => undefined;

  /** Lets the question that has waited longest go on, or fail. */
  async result(error?: ShoalError): Promise<void> {
    this.#waiting.shift()?.(error);
    await settled();
  }

  /** Lets the one that was asked last go on. */
  async respondToLast(): Promise<void> {
    this.#waiting.pop()?.(undefined);
    await settled();
  }

  /** As another coordinator would. */
  change(key: string): void {
    this.state = stateAfter(this.state, [{ key, value: 1 }]);
  }

  async load(): Promise<MetaState> {
    this.loads++;
    const { state } = this;
    await this.#held();
    return state;
  }

  async commit(expectedRevision: number, changes: readonly MetaChange[]): Promise<number | undefined> {
    this.commits++;
    await this.#held();
    if (expectedRevision !== this.state.revision) return undefined;
    this.state = stateAfter(this.state, changes);
    this.#listener(this.state);
    return this.state.revision;
  }

  watch(listener: (state: MetaState) => void): Disposable {
    this.#listener = listener;
    return { [Symbol.dispose]: () => undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #held(): Promise<void> {
    if (!this.isHeld) return;
    const error = await new Promise<ShoalError | undefined>((resolve) => this.#waiting.push(resolve));
    if (error !== undefined) throw error;
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const put = (key: string) => () => ({ changes: [{ key, value: 1 }], result: key });
const gone = new ShoalError("unavailable", "the store is gone");

async function open(nowMs = () => 0): Promise<{ readonly store: HeldStore; readonly ledger: Ledger }> {
  const store = new HeldStore();
  const ledger = await Ledger.open(store, nowMs);
  store.isHeld = true;
  store.loads = 0;
  return { store, ledger };
}

describe("Ledger", () => {
  test("who asks while a read is under way gets the next one, all of them the same", async () => {
    const { store, ledger } = await open();
    const first = ledger.current();
    store.change("a");
    const others = [ledger.current(), ledger.current(), ledger.current()];
    await store.result();
    expect((await first).revision).toBe(0);
    expect(store.loads).toBe(2);
    await store.result();
    for (const state of await Promise.all(others)) expect(state.revision).toBe(1);
    expect(store.loads).toBe(2);
  });

  test("a read that fails takes those along that waited for it, and no later one", async () => {
    const { store, ledger } = await open();
    const outcomes = Promise.allSettled([ledger.current(), ledger.current()]);
    await store.result(gone);
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    const later = ledger.current();
    await store.result();
    expect((await later).revision).toBe(0);
  });

  test("changes that waited in line while the store could not be reached fail with the first; later ones are tried", async () => {
    const { store, ledger } = await open();
    const outcomes = Promise.allSettled(["a", "b", "c"].map((key) => ledger.change(context, put(key))));
    await settled();
    await store.result(gone);
    expect(await outcomes).toEqual(Array.from({ length: 3 }, () => ({ status: "rejected", reason: gone })));
    expect(store.commits).toBe(1);
    const later = ledger.change(context, put("d"));
    await settled();
    await store.result();
    expect(await later).toBe("d");
  });

  test("a change is decided again on what another one has made of the state", async () => {
    const { store, ledger } = await open();
    const seen: number[] = [];
    const changed = ledger.change(context, ({ revision }) => {
      seen.push(revision);
      return { changes: [{ key: "mine", value: revision }], result: revision };
    });
    await settled();
    store.change("a");
    for (let step = 0; step < 3; step++) await store.result();
    expect(await changed).toBe(1);
    expect(seen).toEqual([0, 1]);
  });

  test("a refusal holds for a current state only", async () => {
    const { store, ledger } = await open();
    const refuse = ({ entries }: MetaState) => {
      if (!entries.has("a")) throw new ShoalError("notFound", "no a");
      return { changes: [], result: "found" };
    };
    const refused = ledger.change(context, refuse);
    refused.catch(() => undefined);
    await settled();
    await store.result();
    await expect(refused).rejects.toThrow("no a");
    store.change("a");
    const found = ledger.change(context, refuse);
    await settled();
    await store.result();
    await store.result();
    expect(await found).toBe("found");
  });

  test("a refusal is not decided again because of changes of its own process that came after it", async () => {
    const { store, ledger } = await open();
    let decided = 0;
    const looked = ledger.change(context, () => ({ changes: [], result: ++decided }));
    const changed = ledger.change(context, put("a"));
    await settled();
    await store.respondToLast();
    expect(await changed).toBe("a");
    await store.result();
    expect([await looked, decided]).toEqual([1, 1]);
  });

  test("who is late in line, or gone, changes nothing", async () => {
    let nowMs = 0;
    const { store, ledger } = await open(() => nowMs);
    const first = ledger.change(context, put("a"));
    const late = ledger.change({ deadline: 100 }, put("b"));
    const left = ledger.change({ ...context, signal: AbortSignal.abort(new Error("left")) }, put("c"));
    const outcomes = Promise.allSettled([first, late, left]);
    await settled();
    nowMs = 100;
    await store.result();
    expect(await outcomes).toMatchObject([
      { value: "a" },
      { reason: { code: "deadlineExceeded" } },
      { reason: { message: "left" } },
    ]);
    expect(store.commits).toBe(1);
  });
});
