import type { ShardRouter } from "@shoal/cluster";
import {
  type GetQuery,
  type NearObject,
  type ObjectId,
  parseObjectId,
  parseReferenceTarget,
  quoteText,
  ShoalError,
  withPrefix,
} from "@shoal/model";
import type { SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { findObject } from "./find-object.js";

const VECTOR_ONLY = { properties: false, vector: true, extras: false } as const;

type NearArguments = Pick<GetQuery, "nearVector" | "nearObject" | "moduleSearches">;

/** Whether anything is searched for. */
export function isSearch({ nearVector, nearObject, moduleSearches = [] }: NearArguments): boolean {
  return nearVector !== undefined || nearObject !== undefined || moduleSearches.length > 0;
}

/** Fails with `invalid` when more than one thing is searched for. */
export function checkOneSearch(query: NearArguments): void {
  const modules = (query.moduleSearches ?? []).map(({ argument }) => argument);
  const others = (["nearVector", "nearObject"] as const).filter((name) => query[name] !== undefined);
  const given = [...modules, ...others].map((name) => `'${name}'`);
  if (given.length < 2) return;
  throw new ShoalError("invalid", `a query searches for one thing, got ${given.join(" and ")}: choose one of them`);
}

/** The one vector that a query's nearVector or nearObject stands for. Fails with `invalid` on unusable arguments. */
export async function nearVectorOf(
  router: ShardRouter,
  schema: SchemaSnapshot,
  query: Pick<GetQuery, "nearVector" | "nearObject">,
  context: RequestContext,
): Promise<{ readonly vector: Float32Array; readonly certainty: number | undefined }> {
  const { nearVector, nearObject } = query;
  if (nearVector !== undefined) return nearVector;
  if (nearObject === undefined) throw new ShoalError("internal", "a vector search without near argument");
  const id = nearObjectId(nearObject);
  const vector = await storedVector(router, schema, id, context);
  if (vector === undefined) throw new ShoalError("invalid", `nearObject: ${noVector(id)}`);
  return { vector, certainty: nearObject.certainty };
}

/** Why nothing can be searched for by an object. */
export function noVector(id: ObjectId): string {
  return `no object with id '${id}' is there, or it has no vector`;
}

/** The vector of the object of that id in the first class by name that has it. */
export async function storedVector(
  router: ShardRouter,
  schema: SchemaSnapshot,
  id: ObjectId,
  context: RequestContext,
): Promise<Float32Array | undefined> {
  return (await findObject(router, schema, id, VECTOR_ONLY, context))?.object.vector;
}

function nearObjectId({ id, beacon }: NearObject): ObjectId {
  try {
    return placeOf({ id, beacon });
  } catch (thrown) {
    throw withPrefix("nearObject: ", thrown);
  }
}

/** The object that an id or a beacon of this server names; of both the id counts. Fails with `invalid`. */
export function placeOf({ id, beacon }: Pick<NearObject, "id" | "beacon">): ObjectId {
  if (id !== undefined && id !== "") {
    const parsed = parseObjectId(id);
    if (parsed !== undefined) return parsed;
    throw new ShoalError("invalid", `the id must be a UUID, got ${quoteText(id)}`);
  }
  if (beacon !== undefined && beacon !== "") return parseReferenceTarget(beacon);
  throw new ShoalError("invalid", "it needs the id or the beacon of an object");
}
