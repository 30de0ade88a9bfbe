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

/**
 * The one vector that a query's near* argument stands for. Fails with `invalid` on conflicting or unusable arguments;
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
  if (nearVector !== undefined && nearObject !== undefined) {
    throw new ShoalError(
      "invalid",
      `${stage}found both 'nearVector' and 'nearObject' parameters which are conflicting, choose one instead`,
    );
  }
  if (nearVector !== undefined) return nearVector;
  if (nearObject === undefined) throw new ShoalError("internal", "a vector search without near argument");
  const id = nearObjectId(nearObject, schema, stage);
  const vector = (await findObject(router, schema, id, VECTOR_ONLY, context))?.object.vector;
  if (vector === undefined) throw new ShoalError("invalid", `${stage}nearObject params: vector not found`);
  return { vector, certainty: nearObject.certainty };
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
