import { ShoalError } from "@shoal/model";
import { type MetaChange, type MetaState, type MetaStore, stateAfter } from "../meta-store.js";

/** What several MetaStores share, as etcd would. */
export class SharedMeta {
  state: MetaState = { revision: 0, entries: new Map() };
  /** Every commit, in order. */
  readonly commits: MetaState[] = [];
  readonly #clients = new Set<(state: MetaState) => void>();

  commit(expectedRevision: number, changes: readonly MetaChange[]): number | undefined {
    if (expectedRevision !== this.state.revision) return undefined;
    this.state = stateAfter(this.state, structuredClone(changes) as readonly MetaChange[]);
    this.commits.push(this.state);
    for (const client of this.#clients) client(this.state);
    return this.state.revision;
  }

  onCommit(client: (state: MetaState) => void): void {
    this.#clients.add(client);
  }
}

/**
 * MetaStore in memory with the faults of a network, drawn from `random`: answers come late, watches lag behind and pass
 * states over, questions are lost before or after they were carried out.
 */
export class ForgetfulMetaStore implements MetaStore {
  readonly historyId = "shared";
  readonly #shared: SharedMeta;
  readonly #random: () => number;
  readonly #listeners = new Set<(state: MetaState) => void>();
  #seen: MetaState;
  readonly #faultRate: number;

  constructor(shared: SharedMeta, random: () => number, faultRate: number) {
    this.#shared = shared;
    this.#random = random;
    this.#faultRate = faultRate;
    this.#seen = shared.state;
    shared.onCommit((state) => {
      if (this.#random() > this.#faultRate) void this.#pause(6).then(() => this.#see(state));
    });
  }

  async load(): Promise<MetaState> {
    await this.#travel();
    const { state } = this.#shared;
    await this.#travel();
    this.#see(state);
    return this.#seen;
  }

  async commit(expectedRevision: number, changes: readonly MetaChange[]): Promise<number | undefined> {
    await this.#travel();
    const revision = this.#shared.commit(expectedRevision, changes);
    const { state } = this.#shared;
    await this.#travel();
    if (revision !== undefined) this.#see(state);
    return revision;
  }

  watch(listener: (state: MetaState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #see(state: MetaState): void {
    if (state.revision <= this.#seen.revision) return;
    this.#seen = state;
    for (const listener of this.#listeners) listener(state);
  }

  /** One way over the network. */
  async #travel(): Promise<void> {
    await this.#pause(3);
    if (this.#random() < this.#faultRate) throw new ShoalError("unavailable", "lost on the way");
  }

  async #pause(turnsMax: number): Promise<void> {
    const turns = Math.floor(this.#random() * turnsMax);
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}
