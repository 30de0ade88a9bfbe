import {
  AGGREGATE,
  FIND_OBJECTS,
  GET_OBJECTS,
  LIST_OBJECTS,
  MATCHING_IDS,
  SEARCH_BY_VECTOR,
  SHARD_RECALLS,
  SHARD_STATUSES,
} from "../wire/read-methods.js";
import type { ShardMethod } from "../wire/shard-method.js";
import { DELETE_OBJECT, MERGE_OBJECT, MERGE_OBJECTS, PUT_OBJECTS } from "../wire/write-methods.js";

const ALL = [
  PUT_OBJECTS,
  MERGE_OBJECT,
  MERGE_OBJECTS,
  DELETE_OBJECT,
  GET_OBJECTS,
  FIND_OBJECTS,
  SEARCH_BY_VECTOR,
  LIST_OBJECTS,
  MATCHING_IDS,
  AGGREGATE,
  SHARD_STATUSES,
  SHARD_RECALLS,
];

/** Every method by its code; each reads what it serves, so who calls it need not know of what types that is. */
export const METHOD_OF_CODE: ReadonlyMap<number, ShardMethod<unknown, unknown>> = new Map(
  ALL.map((method) => [method.code, method as ShardMethod<unknown, unknown>]),
);
