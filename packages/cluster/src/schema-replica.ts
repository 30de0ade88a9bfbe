import type { ClassRecord, SchemaService, SchemaSnapshot } from "@shoal/rpc";
import type { SchemaView } from "./schema-view.js";

/** The schema of the coordinator, followed by this process. Every change swaps the whole snapshot in one assignment. */
export class SchemaReplica implements SchemaView, Disposable {
  readonly #subscription: Disposable;
  readonly #listeners = new Set<(snapshot: SchemaSnapshot) => void>();
  #snapshot: SchemaSnapshot = { version: 0, classes: [] };
  #byName: ReadonlyMap<string, ClassRecord> = new Map();

  constructor(service: SchemaService) {
    this.#subscription = service.watch((snapshot) => this.#swap(snapshot));
  }

  get snapshot(): SchemaSnapshot {
    return this.#snapshot;
  }

  classRecord(className: string): ClassRecord | undefined {
    return this.#byName.get(className);
  }

  onChange(listener: (snapshot: SchemaSnapshot) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#listeners.clear();
  }

  #swap(snapshot: SchemaSnapshot): void {
    this.#byName = new Map(snapshot.classes.map((record) => [record.definition.class, record]));
    this.#snapshot = snapshot;
    for (const listener of this.#listeners) listener(snapshot);
  }
}
