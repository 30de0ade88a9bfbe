// What tests of the engine ask, and what they ask it over.

import { type ClassDefinition, type GetQuery, type ObjectId, parseObjectId } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { QueryEngine } from "../query-engine.js";
import type { MemoryObject } from "./memory-object.js";
import { MemoryShards } from "./memory-shards.js";

export const DIMENSIONS = 4;
export const NOTHING = { properties: false, vector: false, extras: false };
export const ROWS = { properties: true, vector: false, extras: false };
export const context = { deadline: Number.POSITIVE_INFINITY };
export const limits = { defaultLimit: 25, maximumResults: 10_000 };

export function record(name: string, skip = false, dimensions: number | undefined = DIMENSIONS): ClassRecord {
  const definition = { class: name, vectorIndexConfig: { skip } } as ClassDefinition;
  return { definition, classId: name, dimensions, sharding: { shards: [], virtualShards: [], assignments: [] } };
}

export function uuid(random: SeededRandom): ObjectId {
  const hex = Array.from({ length: 32 }, () => random.below(16).toString(16)).join("");
  const id = parseObjectId(hex);
  if (id === undefined) throw new Error(hex);
  return id;
}

export function world(seed: number, count: number, classes = ["Word"]): MemoryObject[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => ({
    className: random.pick(classes),
    id: uuid(random),
    // Few distinct times, so that ties are common.
    creationTimeUnix: 1000 + random.below(20),
    vector: Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5),
  }));
}

export function engineOver(objects: readonly MemoryObject[], shardCount: number, records = [record("Word")]) {
  const shards = new MemoryShards(records, objects, shardCount);
  return { shards, engine: new QueryEngine({ schema: shards, router: shards, limits }) };
}

export function getQuery(change: Partial<GetQuery>): GetQuery {
  return {
    className: "Word",
    limit: undefined,
    offset: undefined,
    nearVector: undefined,
    nearObject: undefined,
    fields: NOTHING,
    ...change,
  };
}

export const byId = (a: MemoryObject, b: MemoryObject) => (a.id < b.id ? -1 : 1);
