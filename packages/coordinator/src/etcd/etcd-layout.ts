import { type Json, ShoalError } from "@shoal/model";
import type { IKeyValue } from "etcd3";

/** Version of what is written. */
const FORMAT = 1;

/** Which store this is, and what its keys look like. Without it the next start takes the store for another one. */
export interface EtcdHistory {
  readonly format: number;
  readonly historyId: string;
}

/** The revision of the store. Every commit replaces it, comparing it byte by byte with the one that it was decided on. */
export interface EtcdHead {
  readonly revision: number;
  /** Drawn for each commit, so that who made it finds out although no result came. */
  readonly commitId: string;
}

/** Where things stand in etcd: `<prefix>/head/history`, `<prefix>/head/revision`, `<prefix>/entry/<key>`. */
export class EtcdLayout {
  readonly all: string;
  readonly head: string;
  readonly history: string;
  readonly revision: string;
  readonly #entries: string;

  constructor(prefix: string) {
    this.all = `${prefix.replace(/\/+$/, "")}/`;
    this.head = `${this.all}head/`;
    this.history = `${this.head}history`;
    this.revision = `${this.head}revision`;
    this.#entries = `${this.all}entry/`;
  }

  /** All entries from `key` on, as a range of keys. */
  entriesFrom(after: string | undefined): { readonly start: string; readonly end: string } {
    const start = after === undefined ? this.#entries : `${this.entry(after)}\0`;
    return { start, end: `${this.#entries.slice(0, -1)}0` };
  }

  entry(key: string): string {
    return this.#entries + key;
  }

  /** The key of an entry; undefined when it is something else. */
  entryKey(path: string): string | undefined {
    return path.startsWith(this.#entries) ? path.slice(this.#entries.length) : undefined;
  }
}

export function encodeHistory(historyId: string): string {
  return JSON.stringify({ format: FORMAT, historyId } satisfies EtcdHistory);
}

/** Fails with `invalid` on data of a newer format. */
export function decodeHistory(text: string): EtcdHistory {
  const history = JSON.parse(text) as EtcdHistory;
  if (history.format > FORMAT) {
    throw new ShoalError(
      "invalid",
      `the schema in etcd has format ${history.format}, this version of Shoal reads up to ${FORMAT}: start a newer version`,
    );
  }
  return history;
}

export function encodeHead(head: EtcdHead): string {
  return JSON.stringify(head);
}

export function decodeHead(text: string): EtcdHead {
  return JSON.parse(text) as EtcdHead;
}

export function decodeValue({ value }: IKeyValue): Json {
  return JSON.parse(value.toString()) as Json;
}
