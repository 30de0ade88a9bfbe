// What tests of the engine ask, and what they ask it over.

import { type ClassDefinition, type GetQuery, type ObjectId, parseObjectId } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import { QueryEngine } from "../query-engine.js";
import type { MemoryObject } from "./memory-object.js";
import { MemoryShards } from "./memory-shards.js";

export const DIMENSIONS = 4;
export const NOTHING = { properties: false, vector: false, extras: false };
export const ROWS = { properties: true, vector: false, extras: false };
export const context = { deadline: Number.POSITIVE_INFINITY };
export const limits = { defaultLimit: 25, maximumResults: 10_000 };

/** Small deterministic generator (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function record(name: string, skip = false, dimensions: number | undefined = DIMENSIONS): ClassRecord {
  const definition = { class: name, vectorIndexConfig: { skip } } as ClassDefinition;
  return { definition, classId: name, dimensions, sharding: { shards: [], virtualShards: [], assignments: [] } };
}

export function uuid(next: () => number): ObjectId {
  const hex = Array.from({ length: 32 }, () => Math.floor(next() * 16).toString(16)).join("");
  const id = parseObjectId(hex);
  if (id === undefined) throw new Error(hex);
  return id;
}

export function world(seed: number, count: number, classes = ["Word"]): MemoryObject[] {
  const next = random(seed);
  return Array.from({ length: count }, () => ({
    className: classes[Math.floor(next() * classes.length)] ?? "Word",
    id: uuid(next),
    // Few distinct times, so that ties are common.
    creationTimeUnix: 1000 + Math.floor(next() * 20),
    vector: Float32Array.from({ length: DIMENSIONS }, () => next() - 0.5),
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
