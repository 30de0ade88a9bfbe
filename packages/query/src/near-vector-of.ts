import type { ShardRouter } from "@shoal/cluster";
import {
  type GetQuery,
  LOCAL_HOST,
  type NearObject,
  type ObjectId,
  parseObjectId,
  parseShortBeacon,
  ShoalError,
  type ShortBeacon,
} from "@shoal/model";
import type { RequestContext, SchemaSnapshot } from "@shoal/rpc";
import { classesByName, findObject } from "./find-object.js";

const VECTOR_ONLY = { properties: false, vector: true, extras: false } as const;

type NearArguments = Pick<GetQuery, "nearVector" | "nearObject" | "moduleSearches">;

/** Whether anything is searched for. */
export function isSearch({ nearVector, nearObject, moduleSearches = [] }: NearArguments): boolean {
  return nearVector !== undefined || nearObject !== undefined || moduleSearches.length > 0;
}

/** Fails with `invalid` when more than one thing is searched for; `stage` begins the message (reference-graphql 2.7). */
export function checkOneSearch(query: NearArguments, stage: string): void {
  const modules = (query.moduleSearches ?? []).map(({ argument }) => `'${argument}'`);
  if (modules.length > 1) {
    const names = modules.join(", ");
    throw new ShoalError(
      "invalid",
      `${stage}found more then one module param: ${names} which are conflicting choose one instead`,
    );
  }
  const others = (["nearVector", "nearObject"] as const).filter((name) => query[name] !== undefined);
  const given = [...modules, ...others.map((name) => `'${name}'`)];
  if (given.length < 2) return;
  const both = given.length === 2 ? "both " : "";
  throw new ShoalError(
    "invalid",
    `${stage}found ${both}${given.join(" and ")} parameters which are conflicting, choose one instead`,
  );
}

/**
 * The one vector that a query's nearVector or nearObject stands for. Fails with `invalid` on unusable arguments;
 * `stage` begins the message (reference-graphql 2.7, 3).
 */
export async function nearVectorOf(
  router: ShardRouter,
  schema: SchemaSnapshot,
  query: Pick<GetQuery, "nearVector" | "nearObject">,
  stage: string,
  context: RequestContext,
): Promise<{ readonly vector: Float32Array; readonly certainty: number | undefined }> {
  const { nearVector, nearObject } = query;
  if (nearVector !== undefined) return nearVector;
  if (nearObject === undefined) throw new ShoalError("internal", "a vector search without near argument");
  const id = nearObjectId(nearObject, schema, stage);
  const vector = await storedVector(router, schema, id, context);
  if (vector === undefined) throw new ShoalError("invalid", `${stage}nearObject params: vector not found`);
  return { vector, certainty: nearObject.certainty };
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

function nearObjectId(near: NearObject, schema: SchemaSnapshot, stage: string): ObjectId {
  if (near.id !== undefined && near.id !== "") {
    const id = parseObjectId(near.id);
    if (id !== undefined) return id;
    const index = classesByName(schema)[0]?.definition.class.toLowerCase() ?? "";
    throw new ShoalError(
      "invalid",
      `${stage}nearObject params: search index ${index}: parse id as uuid: invalid UUID length: ${Buffer.byteLength(near.id)}`,
    );
  }
  if (near.beacon === undefined || near.beacon === "") {
    throw new ShoalError("invalid", `${stage}nearObject params: empty id and beacon`);
  }
  return beaconId(near.beacon, stage);
}

/** The id in a beacon of this server. */
function beaconId(text: string, stage: string): ObjectId {
  let beacon: ShortBeacon;
  try {
    beacon = parseShortBeacon(text);
  } catch (thrown) {
    throw new ShoalError("invalid", `${stage}nearObject params: ${ShoalError.from(thrown).message}`, {
      cause: thrown,
    });
  }
  if (beacon.host === LOCAL_HOST) return beacon.id;
  throw new ShoalError("invalid", `${stage}nearObject params: unrecognized cross-ref ref format`);
}
