import type { KeyValueStore } from "@shoal/kv";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { type JsonObject, type ObjectId, type PropertyDefinition, parseObjectId, ShoalError } from "@shoal/model";
import { createInvertedIndex } from "../create-inverted-index.js";
import { DocumentSet } from "../document-set.js";
import { IndexMemory } from "../index-memory.js";
import type { IndexedChange, IndexedState, InvertedIndex, ObjectDirectory } from "../inverted-index.js";

const TEST_PREFIXES = { postings: 0x70, columns: 0x63 } as const;

/** An object as a plain value. */
export interface WorldObject {
  readonly document: number;
  readonly id: ObjectId;
  readonly properties: JsonObject;
  readonly creationTimeUnix: number;
  readonly lastUpdateTimeUnix: number;
}

export interface ObjectChange {
  readonly document: number;
  /** Undefined: it goes. */
  readonly properties: JsonObject | undefined;
  readonly time: number;
}

/** An id for each document; their order has nothing to do with that of the documents. */
export function idOfDocument(document: number): ObjectId {
  const mixed = (Math.imul(document + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
  const id = parseObjectId(`${mixed}-0000-4000-8000-${document.toString(16).padStart(12, "0")}`);
  if (id === undefined) throw new Error("no id");
  return id;
}

/** A shard in small: objects in a map, their index in a store, both changed together. */
export class IndexWorld implements ObjectDirectory {
  readonly objects = new Map<number, WorldObject>();
  readonly #ids = new Map<ObjectId, number>();
  properties: readonly PropertyDefinition[];
  documentLimit = 0;
  /** How many rows were read. */
  rowsRead = 0;
  index: InvertedIndex;
  memory: IndexMemory;

  constructor(
    properties: readonly PropertyDefinition[],
    memoryBytes = 1 << 28,
    readonly store: KeyValueStore = new MemoryStore(),
  ) {
    this.properties = properties;
    this.memory = new IndexMemory(memoryBytes);
    this.index = this.#open(true);
  }

  #open(isEmpty: boolean): InvertedIndex {
    const { store, memory, properties } = this;
    const place = { className: "Thing", shardName: "s1" };
    return createInvertedIndex({
      ...place,
      store,
      memory,
      properties,
      isEmpty,
      directory: this,
      prefixes: TEST_PREFIXES,
    });
  }

  /** As after a restart: nothing is in memory. */
  reopen(memoryBytes = this.memory.bytesMax): void {
    this.index[Symbol.dispose]();
    this.memory = new IndexMemory(memoryBytes);
    this.index = this.#open(false);
  }

  async commit(changes: readonly ObjectChange[], outcome: "applied" | "failed" | "lost" = "applied"): Promise<void> {
    const indexed: IndexedChange[] = changes.map(({ document, properties, time }) => {
      const object = this.objects.get(document);
      const created = object?.creationTimeUnix ?? time;
      const after = properties === undefined ? undefined : stateOf(properties, created, time);
      const before = object && stateOf(object.properties, object.creationTimeUnix, object.lastUpdateTimeUnix);
      return { document, before, after };
    });
    const plan = await this.index.plan(indexed);
    if (outcome !== "lost") await this.store.write(plan.batch);
    if (outcome === "applied") plan.applied();
    else plan.failed();
    if (outcome === "lost") return;
    for (const { document, properties, time } of changes) this.#set(document, properties, time);
  }

  #set(document: number, properties: JsonObject | undefined, time: number): void {
    const before = this.objects.get(document);
    const id = idOfDocument(document);
    if (properties === undefined) {
      this.objects.delete(document);
      this.#ids.delete(id);
      return;
    }
    const creationTimeUnix = before?.creationTimeUnix ?? time;
    this.objects.set(document, { document, id, properties, creationTimeUnix, lastUpdateTimeUnix: time });
    this.#ids.set(id, document);
    this.documentLimit = Math.max(this.documentLimit, document + 1);
  }

  get count(): number {
    return this.objects.size;
  }

  all(): DocumentSet {
    return DocumentSet.of(this.objects.keys());
  }

  find(id: ObjectId): number {
    return this.#ids.get(id) ?? -1;
  }

  idOf(document: number): ObjectId | undefined {
    return this.objects.get(document)?.id;
  }

  *byId(after?: ObjectId): Iterable<number> {
    const sorted = [...this.#ids].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [id, document] of sorted) if (after === undefined || id > after) yield document;
  }

  async propertiesOf(documents: readonly number[]): Promise<readonly (Uint8Array | undefined)[]> {
    this.rowsRead += documents.length;
    if (documents.length > 10_000) throw new ShoalError("internal", "too many rows at a time");
    return documents.map((document) => {
      const object = this.objects.get(document);
      return object && Buffer.from(JSON.stringify(object.properties));
    });
  }
}

export function stateOf(properties: JsonObject, creationTimeUnix: number, lastUpdateTimeUnix: number): IndexedState {
  return { propertiesJson: Buffer.from(JSON.stringify(properties)), creationTimeUnix, lastUpdateTimeUnix };
}
