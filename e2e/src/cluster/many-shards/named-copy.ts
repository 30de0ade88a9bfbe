import type { ShoalError } from "@shoal/model";
import { type Change, type CopyBatch, type CopyName, type CopyState, START } from "@shoal/replication";
import type { CommitCarrier, CopyStore, RowCursor, RowSelection } from "@shoal/shard";

/** What is kept of a copy: of its objects nothing but their names. */
export interface KeptCopy {
  readonly name: CopyName;
  readonly state: CopyState;
  /** By the sequence of the last change of each. */
  readonly documents: readonly (readonly [document: string, sequence: number])[];
}

/** Every object is this row. */
const ROW = Buffer.alloc(8);

/** The store of a copy that holds names of objects, and no rows. */
export class NamedCopy implements CopyStore {
  readonly name: CopyName;
  readonly isBehind = false;
  readonly hasCopiedGraph = false;
  readonly #carrier: CommitCarrier;
  readonly #keep: (copy: KeptCopy) => void;
  readonly #documents: Map<string, number>;
  #state: CopyState;
  #giveUp: ((error: ShoalError) => void) | undefined;

  constructor({ name, state, documents }: KeptCopy, carrier: CommitCarrier, keep: (copy: KeptCopy) => void) {
    this.name = name;
    this.#state = state;
    this.#documents = new Map(documents);
    this.#carrier = carrier;
    this.#keep = keep;
  }

  get state(): CopyState {
    return this.#state;
  }

  /** As a client's write; fails with `unavailable` when nobody knows what became of it, and when it was refused. */
  async put(document: string): Promise<void> {
    await this.#carrier.begin();
    const carried = this.#carrier.carry([{ document, row: ROW }], async (state) => {
      this.#documents.set(document, state.end.sequence);
      this.#write(state);
    });
    const givenUp = new Promise<never>((_, reject) => {
      this.#giveUp = reject;
    });
    await Promise.race([carried, givenUp]);
  }

  giveUp(_waiting: ShoalError, underWay: ShoalError): void {
    this.#giveUp?.(underWay);
  }

  async append(state: CopyState, { first, changes }: NonNullable<CopyBatch["entries"]>): Promise<void> {
    for (const [at, { document }] of changes.entries()) this.#documents.set(document, first + at);
    this.#write(state);
  }

  async writeRows(state: CopyState, { rows, isFull }: NonNullable<CopyBatch["rows"]>): Promise<void> {
    if (isFull) this.#documents.clear();
    for (const { document, row } of rows) {
      if (row === undefined) this.#documents.delete(document);
      else this.#documents.set(document, state.end.sequence);
    }
    this.#write(state);
  }

  async writeState(state: CopyState): Promise<void> {
    this.#write(state);
  }

  async changesAfter(after: number): Promise<readonly string[]> {
    return [...this.#documents].filter(([, sequence]) => sequence > after).map(([document]) => document);
  }

  async openRows({ after, isFull, documents }: RowSelection): Promise<RowCursor> {
    const changed = isFull ? [...this.#documents.keys()] : [...(await this.changesAfter(after)), ...documents];
    const rows = [...new Set(changed)].map((document): Change => {
      return { document, row: this.#documents.has(document) ? ROW : undefined };
    });
    const { sequence } = this.#state.end;
    return { next: async () => ({ rows, isLast: true, sequence }), close: () => undefined };
  }

  /** There are no vectors. */
  async openGraph(): Promise<undefined> {
    return undefined;
  }

  async takeGraph(): Promise<boolean> {
    return false;
  }

  #write(state: CopyState): void {
    this.#state = state;
    this.#keep({ name: this.name, state, documents: [...this.#documents] });
  }
}

/** Of a copy that was put into the configuration with version `since`, and has nothing yet. */
export function newCopy(name: CopyName, since: number): KeptCopy {
  const state = { since, acceptedEpoch: 0, end: START, epochs: [], base: 0, through: 0 };
  return { name, state, documents: [] };
}
