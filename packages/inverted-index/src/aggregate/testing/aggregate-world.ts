// A shard's objects in memory, their index on a store in memory, and aggregations over them.

import { MemoryStore } from "@shoal/kv/testing/memory-store";
import {
  ID_PROPERTY,
  type JsonObject,
  type PropertyDefinition,
  type ShardAggregate,
  type ShardAggregation,
  type ShardFilter,
} from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import { DocumentSet } from "../../document-set.js";
import { IndexWorld, idOfDocument, type ObjectChange } from "../../testing/index-world.js";

export type PlainObject = JsonObject;

export class AggregateWorld extends IndexWorld {
  readonly memoryStore: MemoryStore;
  #all = new DocumentSet();

  constructor(properties: readonly PropertyDefinition[]) {
    const store = new MemoryStore();
    super(properties, undefined, store);
    this.memoryStore = store;
  }

  /** Undefined deletes. */
  put(changes: readonly (readonly [number, PlainObject | undefined])[]): Promise<void> {
    return this.commit(changes.map(([document, properties]): ObjectChange => ({ document, properties, time: 1 })));
  }

  override async commit(changes: readonly ObjectChange[]): Promise<void> {
    await super.commit(changes);
    this.#all = super.all();
  }

  override all(): DocumentSet {
    return this.#all;
  }

  /** Rows are read a little later, as from a disk. */
  override async propertiesOf(documents: readonly number[]): Promise<readonly (Uint8Array | undefined)[]> {
    await Promise.resolve();
    return super.propertiesOf(documents);
  }

  /** Over all documents, or over some. */
  aggregate(
    change: Partial<ShardAggregation>,
    among?: readonly number[],
    bounds: WorkBounds = {},
  ): ShardAggregate | Promise<ShardAggregate> {
    const filter: ShardFilter | undefined = among && {
      operator: "ContainsAny",
      property: ID_PROPERTY,
      value: { kind: "string", values: among.map(idOfDocument) },
    };
    const all = { groupBy: undefined, properties: [], isWhole: false, groupsMax: 100, bytesMax: 1e9 };
    return this.index.aggregate({ filter, ...all, ...change }, bounds);
  }
}
