import { setTimeout as sleep } from "node:timers/promises";
import { type ClassRecord, goesOnFrom, type SchemaService, type SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { SchemaView } from "./schema-view.js";

export interface SchemaReplicaOptions {
  /** The schema that this process knew last, which it uses until the coordinator sends one. */
  readonly remembered?: SchemaSnapshot | undefined;
  /** Milliseconds since 1970. Absent: the coordinator is in this process, and its responses are not waited for. */
  readonly nowMs?: () => number;
}

/** A coordinator that has not answered by then counts as unreachable. */
const REFRESH_MS_MAX = 1_000;

/** For so long after that it is not asked again: requests would only wait for it. */
const REFRESH_PAUSE_MS = 1_000;

/** While it counts as unreachable, a question is waited for no longer: one that is back answers in a few milliseconds. */
const LOST_MS_MAX = 100;

const NO_SCHEMA: SchemaSnapshot = { historyId: "", version: 0, classes: [] };

/** The schema of the coordinator, followed by this process. Every change swaps the whole snapshot in one assignment. */
export class SchemaReplica implements SchemaView, Disposable {
  readonly #service: Pick<SchemaService, "current" | "watch">;
  readonly #nowMs: (() => number) | undefined;
  readonly #subscription: Disposable;
  readonly #listeners = new Set<(snapshot: SchemaSnapshot) => void>();
  #snapshot: SchemaSnapshot = NO_SCHEMA;
  #byName: ReadonlyMap<string, ClassRecord> = new Map();
  #isConfirmed = false;
  /** The question under way, and the one that those who came after its beginning wait for. */
  #asking: Promise<void> | undefined;
  #askingNext: Promise<void> | undefined;
  #pauseEndsMs = Number.NEGATIVE_INFINITY;
  /** The coordinator counts as unreachable: a question has failed, and nothing has come from it since. */
  #isLost = false;

  constructor(service: Pick<SchemaService, "current" | "watch">, { remembered, nowMs }: SchemaReplicaOptions = {}) {
    this.#service = service;
    this.#nowMs = nowMs;
    if (remembered !== undefined) this.#swap(remembered);
    this.#subscription = service.watch((snapshot) => this.#take(snapshot));
  }

  get snapshot(): SchemaSnapshot {
    return this.#snapshot;
  }

  /** Whether there is a schema at all: one from the coordinator, or one that was remembered. */
  get isKnown(): boolean {
    return this.#snapshot !== NO_SCHEMA;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether the coordinator has sent the schema; a remembered one may be old. */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  /**
   * Resolves when there is a schema to begin with: that of the coordinator, or the remembered one when it cannot be
   * reached. Without any it waits for the first.
   */
  async caughtUp(): Promise<void> {
    await this.refresh({ deadline: Number.POSITIVE_INFINITY });
    if (this.isKnown) return;
    await new Promise<void>((resolve) => {
      const subscription = this.onChange(() => {
        subscription[Symbol.dispose]();
        resolve();
      });
    });
  }

  classRecord(className: string): ClassRecord | undefined {
    return this.#byName.get(className);
  }

  refresh(_context: RequestContext): Promise<void> {
    if (this.#asking === undefined) return this.#begin();
    // What is asked already may be answered without a change that has been made since.
    this.#askingNext ??= this.#asking.then(() => {
      this.#askingNext = undefined;
      return this.#asking ?? this.#begin();
    });
    return this.#askingNext;
  }

  /** Called with the version of another process: a newer one is asked for at once. */
  notice(version: number): void {
    if (version > this.#snapshot.version && this.#asking === undefined) void this.#begin();
  }

  onChange(listener: (snapshot: SchemaSnapshot) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#listeners.clear();
  }

  #begin(): Promise<void> {
    const asking = this.#ask().finally(() => {
      this.#asking = undefined;
    });
    this.#asking = asking;
    return asking;
  }

  async #ask(): Promise<void> {
    const now = this.#nowMs;
    if (now !== undefined && now() < this.#pauseEndsMs) return;
    const question = this.#question(now);
    if (now === undefined || !this.#isLost) return question;
    this.#pauseEndsMs = now() + REFRESH_PAUSE_MS;
    await Promise.race([question, sleep(LOST_MS_MAX, undefined, { ref: false })]);
  }

  async #question(now: (() => number) | undefined): Promise<void> {
    const deadline = now === undefined ? Number.POSITIVE_INFINITY : now() + REFRESH_MS_MAX;
    try {
      this.#take(await this.#service.current({ deadline }));
    } catch {
      if (now === undefined) return;
      this.#isLost = true;
      this.#pauseEndsMs = now() + REFRESH_PAUSE_MS;
    }
  }

  /** A response may come behind a later snapshot. Another cluster's is never taken. What does not lead to this one is of a history that counts instead. */
  #take(snapshot: SchemaSnapshot): void {
    const { clusterId } = this.#snapshot;
    if (clusterId !== undefined && snapshot.clusterId !== undefined && snapshot.clusterId !== clusterId) return;
    this.#pauseEndsMs = Number.NEGATIVE_INFINITY;
    this.#isLost = false;
    const isNewer = !goesOnFrom(this.#snapshot, snapshot);
    const isSame = !isNewer && goesOnFrom(snapshot, this.#snapshot);
    if (!isNewer && (this.#isConfirmed || !isSame)) return;
    this.#isConfirmed = true;
    this.#swap(isNewer ? snapshot : this.#snapshot);
  }

  #swap(snapshot: SchemaSnapshot): void {
    this.#byName = new Map(snapshot.classes.map((record) => [record.definition.class, record]));
    this.#snapshot = snapshot;
    for (const listener of this.#listeners) listener(snapshot);
  }
}
