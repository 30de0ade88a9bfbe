import {
  DocumentSet,
  type IndexedChange,
  type IndexedState,
  type InvertedIndex,
  type PlannedChanges,
} from "@shoal/inverted-index";
import type { KeyValueChange } from "@shoal/kv";
import {
  type PropertyDefinition,
  type ShardAggregate,
  type ShardAggregation,
  type ShardFilter,
  ShoalError,
} from "@shoal/model";
import { plainMatches } from "@shoal/model/testing/plain-filter";
import type { WorkBounds } from "@shoal/runtime";
import { INDEX_PREFIXES, indexRanges } from "../key-layout.js";
import type { InvertedIndexSite } from "../object-index.js";

interface Entry {
  readonly propertiesJson: string;
  readonly creationTimeUnix: number;
  readonly lastUpdateTimeUnix: number;
}

/**
 * An inverted index that inverts nothing: it has a copy of every object, and a question goes through all of them. Its
 * records stand in the store as those of the real one do, so that what the shard does with them shows.
 */
export class ScannedIndex implements InvertedIndex {
  readonly #site: InvertedIndexSite;
  #properties: readonly PropertyDefinition[];
  /** Undefined: to be read from the store. */
  #entries: Map<number, Entry> | undefined;
  /** What was read before one of them is old. */
  #changes = 0;
  /** Awaited by `matching` once it has its result. */
  matchingGate: Promise<void> | undefined;

  constructor(site: InvertedIndexSite) {
    this.#site = site;
    this.#properties = site.properties;
    this.#entries = site.isEmpty ? new Map() : undefined;
  }

  configure(properties: readonly PropertyDefinition[]): void {
    this.#properties = properties;
  }

  async plan(changes: readonly IndexedChange[]): Promise<PlannedChanges> {
    const entries = await this.#read();
    const batch: KeyValueChange[] = [];
    for (const { document, before, after } of changes) {
      const known = entries.get(document);
      if (JSON.stringify(known) !== JSON.stringify(before && entryOf(before))) {
        throw new ShoalError("internal", `document ${document} was ${JSON.stringify(known)} before`);
      }
      this.#checkNames(after);
      batch.push(
        after === undefined
          ? { type: "del", key: keyOf(document) }
          : { type: "put", key: keyOf(document), value: Buffer.from(JSON.stringify(entryOf(after))) },
      );
    }
    return {
      batch,
      applied: () => {
        this.#changes += 1;
        for (const { document, after } of changes) {
          if (after === undefined) this.#entries?.delete(document);
          else this.#entries?.set(document, entryOf(after));
        }
      },
      failed: () => {
        this.#changes += 1;
        this.#entries = undefined;
      },
    };
  }

  async matching(filter: ShardFilter, bounds: WorkBounds = {}): Promise<DocumentSet> {
    const entries = await this.#read();
    bounds.signal?.throwIfAborted();
    const found = new DocumentSet();
    for (const [document, entry] of entries) {
      const id = this.#site.directory.idOf(document);
      if (id === undefined) continue;
      const properties = JSON.parse(entry.propertiesJson) as Record<string, unknown>;
      if (plainMatches({ ...entry, id, properties }, filter, this.#properties)) found.add(document);
    }
    await this.matchingGate;
    return found;
  }

  /** Only sets answer: the whole way is taken. */
  test(): undefined {
    return undefined;
  }

  async aggregate({ filter }: ShardAggregation): Promise<ShardAggregate> {
    const objectCount = filter === undefined ? this.#site.directory.count : (await this.matching(filter)).size;
    return [{ groupedBy: undefined, objectCount, properties: [] }];
  }

  get memoryBytes(): number {
    return (this.#entries?.size ?? 0) * 100;
  }

  [Symbol.dispose](): void {
    this.#entries = undefined;
  }

  async #read(): Promise<Map<number, Entry>> {
    for (;;) {
      if (this.#entries !== undefined) return this.#entries;
      const changes = this.#changes;
      const entries = await this.#scan();
      if (changes === this.#changes) this.#entries ??= entries;
    }
  }

  async #scan(): Promise<Map<number, Entry>> {
    const entries = new Map<number, Entry>();
    for (const range of indexRanges()) {
      for await (const chunk of this.#site.store.scan(range)) {
        for (const { key, value } of chunk) {
          const document = Buffer.from(key).readUInt32BE(1);
          entries.set(document, JSON.parse(Buffer.from(value).toString()) as Entry);
        }
      }
    }
    return entries;
  }

  #checkNames(after: IndexedState | undefined): void {
    if (after === undefined) return;
    for (const name of Object.keys(JSON.parse(entryOf(after).propertiesJson) as object)) {
      if (this.#properties.some((property) => property.name === name)) continue;
      throw new ShoalError("unavailable", `property '${name}' is not known here yet`, { retryAfterSeconds: 1 });
    }
  }
}

function entryOf({ propertiesJson, creationTimeUnix, lastUpdateTimeUnix }: IndexedState): Entry {
  return { propertiesJson: Buffer.from(propertiesJson).toString(), creationTimeUnix, lastUpdateTimeUnix };
}

function keyOf(document: number): Uint8Array {
  const key = Buffer.alloc(5);
  key[0] = INDEX_PREFIXES.postings;
  key.writeUInt32BE(document, 1);
  return key;
}
