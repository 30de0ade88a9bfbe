import { isUncheckedObject, ShoalError } from "@shoal/model";
import type { ObjectInput, ReferenceInput } from "./ingest-service.js";

/**
 * Fails with `invalid`, naming the member, when an object asks for a tenant or for named vectors (reference-today 5.6, 6.3).
 * Null, an empty text and no vector at all ask for nothing.
 */
export function refuseUnbuiltMembers({ tenant, vectors }: Pick<ObjectInput, "tenant" | "vectors">): void {
  if (tenant === undefined && vectors === undefined) return;
  refuseTenant({ tenant });
  if (vectors === undefined || vectors === null || (isUncheckedObject(vectors) && Object.keys(vectors).length === 0))
    return;
  throw new ShoalError(
    "invalid",
    "vectors: named vectors are asked for, which this server does not have: leave it out, and send one list of numbers as `vector`",
  );
}

/** The same for the tenant alone. */
export function refuseTenant({ tenant }: Pick<ObjectInput | ReferenceInput, "tenant">): void {
  if (tenant === undefined || tenant === null || tenant === "") return;
  const shown = JSON.stringify(tenant)?.slice(0, SHOWN_CHARS_MAX);
  throw new ShoalError("invalid", `tenant: ${shown} asks for tenants, which this server does not have: leave it out`);
}

const SHOWN_CHARS_MAX = 100;
