import type { Failures } from "../../faults/fault-row.js";
import { type Answer, at, type HttpClient } from "../../http-client.js";
import { type HistoryStep, linearOrder } from "../linear-order.js";
import { pause } from "./row-on-cluster.js";

/** What is stored under a key: a number from 1, or nothing. */
type Stored = number;
const NOTHING: Stored = 0;

const KEYS = 64;
/** So many requests of a key may wait for their answers: more take the checker long. Others of the same shard wait as well then. */
const WAITING_MAX = 2;
const SEARCHES_WAITING_MAX = 64;
const SEARCHES_OF_ALL = 0.2;
const DUE_EVERY_MS = 5;
/** A key is left for a fresh one after so many steps: what explains longer histories takes long to find. */
const STEPS_MAX = 60;
/** So, too, when nobody knows what became of so many. */
const UNKNOWN_MAX = 4;
const SEARCH_CLASS_OBJECTS = 50;

const REFUSAL_CHARS = 200;

/** Of a batch the object's own error tells. */
const REFUSED: ReadonlySet<number> = new Set([200, 503]);

interface Key {
  readonly id: string;
  readonly steps: HistoryStep<Stored>[];
  /** What was refused, for whoever looks for a fault. */
  readonly refused: string[];
  waiting: number;
  unknown: number;
}

export interface CopiedClass {
  readonly className: string;
  readonly factor: number;
  readonly shards: number;
}

/**
 * Objects of a class whose shards have copies: clients write, create, delete and read them by id, and search, at a steady rate,
 * whatever waits. Every history of a key must have a linear order, every search the objects that nobody changes.
 */
export class CopiedObjects {
  /** Writes that were acknowledged: when they were asked and answered; and times at which one failed. */
  readonly written: { readonly askedMs: number; readonly answeredMs: number }[] = [];
  readonly failed: number[] = [];
  searches = 0;
  /** Requests that were due, and those that came to an end. One that is due is left out while everything waits that it may be about. */
  asked = 0;
  answered = 0;
  readonly failedSearches: string[] = [];
  readonly #http: HttpClient;
  readonly #options: CopiedClass;
  readonly #random: () => number;
  readonly #perSecond: number;
  readonly #histories: Key[] = [];
  readonly #keys: Key[];
  readonly #running = new Set<Promise<void>>();
  #searching = 0;
  #timer: NodeJS.Timeout | undefined;
  #begunMs = 0;
  #endedMs = 0;
  #number = 0;

  constructor(http: HttpClient, options: CopiedClass, perSecond: number, random: () => number) {
    this.#http = http;
    this.#options = options;
    this.#perSecond = perSecond;
    this.#random = random;
    this.#keys = Array.from({ length: KEYS }, () => this.#freshKey());
  }

  /** The class, with objects that stay as they are. */
  async create(): Promise<void> {
    const { className, factor, shards } = this.#options;
    const made = await this.#http.post("/v1/schema", {
      class: className,
      properties: [{ name: "n", dataType: ["int"] }],
      replicationConfig: { factor },
      shardingConfig: { desiredCount: shards },
    });
    if (made.status !== 200) throw new Error(`POST /v1/schema: ${made.status} ${made.text}`);
    const objects = Array.from({ length: SEARCH_CLASS_OBJECTS }, (_, n) => this.#body(this.#newId(), -1 - n));
    for (let attempt = 0; ; attempt++) {
      const { status, text } = await this.#http.post("/v1/batch/objects", { objects });
      if (status === 200 && !text.includes('"errors"')) return;
      if (attempt > 100) throw new Error(`the first objects cannot be stored: ${status} ${text}`);
      await pause(100);
    }
  }

  start(): void {
    this.#begunMs = performance.now();
    this.#timer = setInterval(() => {
      const due = ((performance.now() - this.#begunMs) * this.#perSecond) / 1_000;
      for (; this.asked < due; this.asked++) this.#send();
    }, DUE_EVERY_MS);
  }

  #send(): void {
    const isSearch = this.#random() < SEARCHES_OF_ALL;
    const running = isSearch ? this.#sendSearch() : this.#sendStep();
    if (running === undefined) return;
    const counted = running.finally(() => {
      this.#running.delete(counted);
      this.answered++;
    });
    this.#running.add(counted);
  }

  /** Sends nothing more and waits for all answers. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#endedMs = performance.now();
    await Promise.all(this.#running);
  }

  /** So long were requests sent. */
  get seconds(): number {
    return (this.#endedMs - this.#begunMs) / 1_000;
  }

  /** How long a write that was asked from `fromMs` to `toMs` waited at most: so long was its shard away. */
  longestWriteMs(fromMs: number, toMs: number): number {
    return this.writeMs(fromMs, toMs, 1);
  }

  /** So long waited a share of the writes that were asked from `fromMs` to `toMs` at most: of .99 all but the slowest hundredth. */
  writeMs(fromMs: number, toMs: number, share: number): number {
    const asked = this.written.filter(({ askedMs }) => askedMs >= fromMs && askedMs <= toMs);
    const times = asked.map(({ askedMs, answeredMs }) => answeredMs - askedMs).sort((a, b) => a - b);
    return times[Math.ceil(share * times.length) - 1] ?? 0;
  }

  /** After everything is back: what each key has now ends its history, which must have a linear order. */
  async check(failures: Failures): Promise<void> {
    for (const key of this.#histories) {
      await this.#read(key);
      const isLinear = linearOrder(key.steps, NOTHING, String) !== undefined;
      const told = key.steps.map(({ name, askedMs, answeredMs }) => {
        return `${Math.round(askedMs)}-${Number.isFinite(answeredMs) ? Math.round(answeredMs) : ""} ${name}`;
      });
      failures.check(
        isLinear,
        `no order explains what ${key.id} answered: ${[...told, "refused", ...key.refused].join("; ")}`,
      );
    }
    for (const failure of this.failedSearches) failures.add(failure);
  }

  get histories(): number {
    return this.#histories.length;
  }

  #freshKey(): Key {
    const key = { id: this.#newId(), steps: [], refused: [], waiting: 0, unknown: 0 };
    this.#histories.push(key);
    return key;
  }

  #newId(): string {
    const hex = Array.from({ length: 32 }, () => Math.floor(this.#random() * 16).toString(16)).join("");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  #body(id: string, n: number) {
    return { class: this.#options.className, id, properties: { n }, vector: [Math.cos(n), Math.sin(n), n < 0 ? 1 : 0] };
  }

  /** On a key that not too much waits for, from a random one on. */
  #sendStep(): Promise<void> | undefined {
    const from = Math.floor(this.#random() * KEYS);
    for (let offset = 0; offset < KEYS; offset++) {
      const at = (from + offset) % KEYS;
      const present = this.#keys[at];
      if (present === undefined || present.waiting >= WAITING_MAX) continue;
      const isDone = present.steps.length >= STEPS_MAX || present.unknown >= UNKNOWN_MAX;
      const key = isDone ? this.#freshKey() : present;
      this.#keys[at] = key;
      key.waiting++;
      return this.#step(key).finally(() => key.waiting--);
    }
    return undefined;
  }

  #sendSearch(): Promise<void> | undefined {
    if (this.#searching >= SEARCHES_WAITING_MAX) return undefined;
    this.#searching++;
    return this.#search().finally(() => this.#searching--);
  }

  async #step(key: Key): Promise<void> {
    const choice = this.#random();
    if (choice < 0.4) await this.#read(key);
    else if (choice < 0.7) await this.#write(key);
    else if (choice < 0.85) await this.#create(key);
    else await this.#delete(key);
  }

  async #read(key: Key): Promise<void> {
    const { id } = key;
    await this.#record(
      key,
      () => this.#http.get(`/v1/objects/${id}`),
      ({ status, json }) => {
        if (status === 404) return ["not there", (state) => onlyIf(state === NOTHING, state)];
        if (status !== 200) return undefined;
        const n = at(json, "properties", "n");
        return [`reads ${n}`, (state) => onlyIf(state === n, state)];
      },
      true,
    );
  }

  async #write(key: Key): Promise<void> {
    const n = ++this.#number;
    const objects = [this.#body(key.id, n)];
    await this.#record(
      key,
      () => this.#http.post("/v1/batch/objects", { objects }),
      ({ status, json }) => {
        const isDone = status === 200 && at(json, 0, "id") === key.id && at(json, 0, "result", "errors") == null;
        return isDone ? [`writes ${n}`, () => n] : undefined;
      },
      false,
      `writes ${n}`,
      () => n,
    );
  }

  async #create(key: Key): Promise<void> {
    const n = ++this.#number;
    const created = (state: Stored) => onlyIf(state === NOTHING, n);
    await this.#record(
      key,
      () => this.#http.post("/v1/objects", this.#body(key.id, n)),
      ({ status, text }) => {
        if (status === 200) return [`creates ${n}`, created];
        if (status === 422 && text.includes("already exists")) {
          return [`exists, not ${n}`, (state) => onlyIf(state !== NOTHING, state)];
        }
        return undefined;
      },
      false,
      `creates ${n}`,
      created,
    );
  }

  async #delete(key: Key): Promise<void> {
    const deleted = (state: Stored) => onlyIf(state !== NOTHING, NOTHING);
    await this.#record(
      key,
      () => this.#http.delete(`/v1/objects/${key.id}`),
      ({ status }) => {
        if (status === 204) return ["deletes", deleted];
        return status === 404 ? ["nothing to delete", (state) => onlyIf(state === NOTHING, state)] : undefined;
      },
      false,
      "deletes",
      deleted,
    );
  }

  /** Asks, and notes what the answer says; of a write without an answer, that it may have happened. */
  async #record(
    key: Key,
    ask: () => Promise<Answer>,
    meaning: (answer: Answer) => readonly [string, Change] | undefined,
    isRead: boolean,
    unknown = "",
    mayHave: Change = () => undefined,
  ): Promise<void> {
    const askedMs = performance.now();
    const answer = await ask().catch(() => undefined);
    const answeredMs = performance.now();
    const meant = answer === undefined ? undefined : meaning(answer);
    if (meant !== undefined) {
      const [name, change] = meant;
      key.steps.push({ name, askedMs, answeredMs, apply: change });
      if (!isRead) this.written.push({ askedMs, answeredMs });
      return;
    }
    if (isRead) return;
    this.failed.push(answeredMs);
    // What is refused has not happened, unless the answer says that nobody knows.
    if (answer !== undefined && isRefused(answer)) {
      key.refused.push(
        `${Math.round(askedMs)}-${Math.round(answeredMs)} ${unknown}: ${answer.text.slice(0, REFUSAL_CHARS)}`,
      );
      return;
    }
    key.unknown++;
    key.steps.push({ name: `${unknown}?`, askedMs, answeredMs: Number.POSITIVE_INFINITY, apply: mayHave });
  }

  /** Those that nobody changes are found, each time. */
  async #search(): Promise<void> {
    const { className } = this.#options;
    const kind = Math.floor(this.#random() * 3);
    const where = `where: {path: ["n"], operator: LessThan, valueInt: 0}`;
    const asks = [
      `{ Get { ${className}(nearVector: {vector: [0, 0, 1]}, ${where}, limit: 1000) { n } } }`,
      `{ Get { ${className}(${where}, limit: 1000) { n } } }`,
      `{ Aggregate { ${className}(${where}) { meta { count } } } }`,
    ];
    const query = asks[kind] ?? "";
    const begun = performance.now();
    this.searches++;
    const answer = await this.#http.graphql(query).catch((error: unknown) => String(error));
    const found =
      typeof answer === "string"
        ? undefined
        : kind === 2
          ? at(answer.json, "data", "Aggregate", className, 0, "meta", "count")
          : (at(answer.json, "data", "Get", className) as readonly unknown[] | undefined)?.length;
    if (found === SEARCH_CLASS_OBJECTS) return;
    const text = typeof answer === "string" ? answer : `${answer.status} ${answer.text.slice(0, 300)}`;
    const took = Math.round(performance.now() - begun);
    this.failedSearches.push(`search ${kind} after ${took} ms at ${Math.round(begun)}: ${found} found, ${text}`);
  }
}

function isRefused({ status, text }: Answer): boolean {
  return REFUSED.has(status) && !/nobody knows|may have been carried out/.test(text);
}

/** What a step makes of the state; undefined: it cannot have happened then. */
type Change = (state: Stored) => Stored | undefined;

function onlyIf(isSo: boolean, state: Stored): Stored | undefined {
  return isSo ? state : undefined;
}
