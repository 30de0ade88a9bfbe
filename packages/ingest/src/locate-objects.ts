import { findHolders, type Holders, type OwnId } from "@shoal/cluster";
import { missingTarget, type ObjectId, type ReferenceTarget, type ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";
import { type Keeps, keptReferences, type StoredPlace } from "./kept-references.js";

/** Which classes have an object, by its id. */
export type Located = ReadonlyMap<ObjectId, Holders>;

/**
 * Asks for all ids at once, each one once: one request a node, further ones beyond `askedIdsMax`. Of the `own` one only the
 * own shard must answer. Never fails.
 */
export async function locateObjects(
  { router, schema, limits }: Pick<IngestParts, "router" | "schema" | "limits">,
  ids: Iterable<ObjectId>,
  context: RequestContext,
  own?: OwnId,
): Promise<Located> {
  const wanted = [...new Set(ids)];
  const located = new Map<ObjectId, Holders>();
  for (let from = 0; from < wanted.length; from += limits.askedIdsMax) {
    const asked = wanted.slice(from, from + limits.askedIdsMax);
    const results = await findHolders(router, schema.snapshot, asked, context, own);
    for (const [at, id] of asked.entries()) located.set(id, results[at] ?? NOWHERE);
  }
  return located;
}

/** What `located` has of an id that was asked for. */
export function holdersOf(located: Located, id: ObjectId): Holders {
  return located.get(id) ?? NOWHERE;
}

/**
 * The first target that no class has and that the object does not keep: `invalid`, or why that cannot be told. Undefined when
 * there is none.
 */
export function targetFault(
  targets: readonly ReferenceTarget[],
  located: Located,
  keeps?: (target: ReferenceTarget) => ReturnType<Keeps>,
): ShoalError | undefined {
  for (const target of targets) {
    const { holding, failure } = holdersOf(located, target.id);
    if (holding.length > 0) continue;
    const kept = keeps?.(target);
    if (kept === true) continue;
    return kept || failure || missingTarget(target, target.id);
  }
  return undefined;
}

/** Fails with the `targetFault` of what an object refers to. `place`: the object, which may keep what it holds already. */
export async function requireTargets(
  parts: Pick<IngestParts, "router" | "schema" | "wholeSchema" | "limits" | "profile">,
  targets: readonly ReferenceTarget[],
  context: RequestContext,
  place?: StoredPlace,
): Promise<void> {
  if (targets.length === 0) return;
  const ids = targets.map(({ id }) => id);
  const located = await locateObjects(parts, ids, context);
  let fault = targetFault(targets, located);
  if (fault !== undefined && place !== undefined) {
    const keeps = await keptReferences(parts, [place], context);
    fault = targetFault(targets, located, (target) => keeps(place, target));
  }
  if (fault !== undefined) throw fault;
}

const NOWHERE: Holders = { holding: [], failure: undefined };
