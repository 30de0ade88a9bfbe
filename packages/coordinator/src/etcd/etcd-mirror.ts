import type { Json } from "@shoal/model";
import type { IEvent, IKeyValue } from "etcd3";
import { type MetaChange, type MetaState, stateAfter } from "../meta-store.js";
import { decodeHead, decodeValue, type EtcdHead, type EtcdLayout } from "./etcd-layout.js";

/** The head as it stands in etcd; commits compare its text. */
export interface MirroredHead extends EtcdHead {
  readonly text: string;
}

/** All of the store at one revision, as it was read. */
export interface EtcdContent {
  readonly head: MirroredHead;
  readonly entries: readonly { readonly key: string; readonly kv: IKeyValue }[];
}

/** What this process knows of etcd's content: read whole once, then followed commit by commit. */
export class EtcdMirror {
  readonly #layout: EtcdLayout;
  readonly #onState: (state: MetaState) => void;
  /** Commits of this process that are under way: their values stay the same objects. */
  readonly #own = new Map<string, OwnCommit>();
  /** Etcd's own revision of each entry: one that has not changed need not be decoded again. */
  #modRevisions = new Map<string, string>();
  #head: MirroredHead = { revision: -1, commitId: "", text: "" };
  #state: MetaState = { revision: -1, entries: new Map() };

  constructor(layout: EtcdLayout, onState: (state: MetaState) => void) {
    this.#layout = layout;
    this.#onState = onState;
  }

  get state(): MetaState {
    return this.#state;
  }

  get head(): MirroredHead {
    return this.#head;
  }

  /** From now on the commit's values are taken from here, and whether it was seen is known. */
  expect(commitId: string, changes: readonly MetaChange[]): OwnCommit & Disposable {
    const own = { changes, wasSeen: false, [Symbol.dispose]: () => void this.#own.delete(commitId) };
    this.#own.set(commitId, own);
    return own;
  }

  /** Takes over what was read, unless more is known already. */
  replace({ head, entries }: EtcdContent): void {
    if (head.revision <= this.#state.revision) return;
    const values = new Map<string, Json>();
    const modRevisions = new Map<string, string>();
    for (const { key, kv } of entries) {
      const known = this.#modRevisions.get(key) === kv.mod_revision ? this.#state.entries.get(key) : undefined;
      values.set(key, known ?? decodeValue(kv));
      modRevisions.set(key, kv.mod_revision);
    }
    this.#modRevisions = modRevisions;
    this.#swap(head, { revision: head.revision, entries: values });
  }

  /** Takes over the events of whole commits, in order. False when something is missing before them. */
  follow(events: readonly IEvent[]): boolean {
    for (let from = 0, to = 0; from < events.length; from = to) {
      const modRevision = events[from]?.kv.mod_revision;
      while (to < events.length && events[to]?.kv.mod_revision === modRevision) to++;
      if (!this.#followCommit(events.slice(from, to))) return false;
    }
    return true;
  }

  /** Takes over a commit of this process, unless the watch was faster. `modRevision`: etcd's own. */
  commit(head: MirroredHead, changes: readonly MetaChange[], modRevision: string): void {
    if (head.revision !== this.#state.revision + 1) return;
    for (const { key } of changes) this.#modRevisions.set(key, modRevision);
    this.#swap(head, stateAfter(this.#state, changes));
  }

  #followCommit(events: readonly IEvent[]): boolean {
    const headEvent = events.find(({ kv, type }) => type === "Put" && kv.key.toString() === this.#layout.revision);
    if (headEvent === undefined) return true;
    const text = headEvent.kv.value.toString();
    const head = { ...decodeHead(text), text };
    if (head.revision <= this.#state.revision) return true;
    if (head.revision > this.#state.revision + 1) return false;
    const own = this.#own.get(head.commitId);
    if (own !== undefined) own.wasSeen = true;
    const changes = own?.changes ?? this.#changesOf(events);
    this.commit(head, changes, headEvent.kv.mod_revision);
    return true;
  }

  #changesOf(events: readonly IEvent[]): readonly MetaChange[] {
    return events.flatMap(({ kv, type }) => {
      const key = this.#layout.entryKey(kv.key.toString());
      return key === undefined ? [] : [{ key, value: type === "Put" ? decodeValue(kv) : undefined }];
    });
  }

  #swap(head: MirroredHead, state: MetaState): void {
    this.#head = head;
    this.#state = state;
    this.#onState(state);
  }
}

export interface OwnCommit {
  readonly changes: readonly MetaChange[];
  /** That it came back as an event. */
  wasSeen: boolean;
}
