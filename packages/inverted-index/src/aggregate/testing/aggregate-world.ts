// A shard's objects in memory, their index on a store in memory, and aggregations over both.

import { MemoryStore } from "@shoal/kv";
import {
  CREATION_TIME_PROPERTY,
  type Json,
  LAST_UPDATE_TIME_PROPERTY,
  type PropertyDefinition,
  type ReadBounds,
  type ShardAggregate,
  type ShardAggregation,
} from "@shoal/model";
import { type IndexedProperty, indexedProperty } from "../../analysis/property-kind.js";
import { DocumentSet } from "../../document-set.js";
import { IndexMemory } from "../../index-memory.js";
import type { IndexedChange, ObjectDirectory } from "../../inverted-index.js";
import { planChanges } from "../../plan-changes.js";
import { CommitGate } from "../../stored/commit-gate.js";
import type { IndexStore } from "../../stored/index-store.js";
import { PropertyIndex } from "../../stored/property-index.js";
import { runWork } from "../../work.js";
import { aggregateDocuments } from "../aggregate-documents.js";
import type { AggregateSource } from "../aggregate-source.js";

export type PlainObject = Readonly<Record<string, Json>>;

export class AggregateWorld {
  readonly objects = new Map<number, PlainObject>();
  /** Rows that were read. */
  rowsRead = 0;
  readonly #definitions: readonly PropertyDefinition[];
  readonly #kv = new MemoryStore();
  readonly #present = new DocumentSet();
  #documentLimit = 0;
  #indexes: ReadonlyMap<string, PropertyIndex>;
  #store: IndexStore;

  constructor(definitions: readonly PropertyDefinition[]) {
    this.#definitions = definitions;
    this.#store = this.#storeOf(Number.POSITIVE_INFINITY);
    this.#indexes = this.#indexesOf(true);
  }

  /** The index as a new process finds it, which may keep so much in memory. */
  reopen(bytesMax: number): void {
    this.#store = this.#storeOf(bytesMax);
    this.#indexes = this.#indexesOf(false);
  }

  /** Undefined deletes. */
  async commit(changes: readonly (readonly [number, PlainObject | undefined])[]): Promise<void> {
    const indexed = changes.map(([document, object]): IndexedChange => {
      const before = this.objects.get(document);
      return { document, before: before && stateOf(before), after: object && stateOf(object) };
    });
    const { batch, steps } = await planChanges(this.#store, this.#indexes, indexed);
    await this.#kv.write(batch);
    for (const step of steps) step();
    for (const [document, object] of changes) {
      if (object === undefined) {
        this.objects.delete(document);
        this.#present.delete(document);
      } else {
        this.objects.set(document, object);
        this.#present.add(document);
        this.#documentLimit = Math.max(this.#documentLimit, document + 1);
      }
    }
  }

  /** Of a filter only the documents that satisfy it are known here. */
  aggregate(
    change: Partial<ShardAggregation>,
    among?: ReadonlySet<number>,
    bounds: ReadBounds = {},
  ): ShardAggregate | Promise<ShardAggregate> {
    const aggregation: ShardAggregation = {
      filter: among && { operator: "And", operands: [] },
      groupBy: undefined,
      properties: [],
      isWhole: false,
      groupsMax: 100,
      bytesMax: 1e9,
      ...change,
    };
    return runWork(aggregateDocuments(this.#source(among), aggregation, bounds), bounds.signal);
  }

  #storeOf(bytesMax: number): IndexStore {
    return {
      reader: this.#kv,
      prefixes: { postings: 0x70, columns: 0x63 },
      place: { className: "Shop", shardName: "s0" },
      gate: new CommitGate(),
      memory: new IndexMemory(bytesMax),
    };
  }

  #indexesOf(isNew: boolean): ReadonlyMap<string, PropertyIndex> {
    const times = [CREATION_TIME_PROPERTY, LAST_UPDATE_TIME_PROPERTY].map((name) => ({ name, dataType: ["int"] }));
    return new Map(
      [...this.#definitions, ...times].map((definition) => [
        definition.name,
        new PropertyIndex(this.#store, indexedProperty(definition), isNew),
      ]),
    );
  }

  #source(among: ReadonlySet<number> | undefined): AggregateSource {
    const part = <Part>(property: IndexedProperty, of: (index: PropertyIndex) => Part | undefined): Part => {
      const index = this.#indexes.get(property.name);
      const found = index && of(index);
      if (found === undefined) throw new Error(`there is no such part of ${property.name}`);
      return found;
    };
    return {
      directory: this.#directory(),
      definition: (name) => this.#definitions.find((definition) => definition.name === name),
      *matching(_, turns) {
        yield turns.next();
        return DocumentSet.of(among ?? []);
      },
      flags: (property) => part(property, ({ flags }) => flags).slot.demand(),
      tokens: (property) => part(property, ({ tokens }) => tokens).slot.demand(),
      wholes: (property) => part(property, ({ wholes }) => wholes).slot.demand(),
      column: (property) => part(property, ({ numbers }) => numbers).slot.demand(),
    };
  }

  #directory(): ObjectDirectory {
    const unasked = () => {
      throw new Error("an aggregation asks for no ids");
    };
    return {
      documentLimit: this.#documentLimit,
      count: this.objects.size,
      all: () => this.#present,
      find: unasked,
      idOf: unasked,
      byId: unasked,
      propertiesOf: async (documents) => {
        await Promise.resolve();
        this.rowsRead += documents.length;
        return documents.map((document) => {
          const object = this.objects.get(document);
          return object && stateOf(object).propertiesJson;
        });
      },
    };
  }
}

function stateOf(object: PlainObject) {
  return { propertiesJson: Buffer.from(JSON.stringify(object)), creationTimeUnix: 1, lastUpdateTimeUnix: 2 };
}
