import { firstHolder } from "@shoal/cluster";
import {
  type BeaconScheme,
  type ObjectId,
  type ObjectMerge,
  parseReferenceTarget,
  propertyValidator,
  referenceTo,
  ShoalError,
  withPrefix,
} from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";
import { IngestYielder } from "./ingest-yielder.js";
import { keptReferences } from "./kept-references.js";
import { holdersOf, locateObjects } from "./locate-objects.js";

/** One way to change the references of a property. */
export interface ReferenceChange {
  /** Begins the messages about its references; undefined: they are not checked. */
  readonly prefix: string | undefined;
  /** Whether references that the object holds already may stay, wherever they point to (`keptReferences`). */
  readonly mayKeep: boolean;
  /** What an unknown object is, and a property that holds no references. */
  readonly absence: "invalid" | "notFound";
  readonly merge: (property: string, targets: readonly ObjectId[], scheme: BeaconScheme) => Partial<ObjectMerge>;
}

export const ADD: ReferenceChange = {
  prefix: "invalid reference: ",
  mayKeep: false,
  absence: "invalid",
  merge: (property, targets, scheme) => ({ append: { [property]: targets.map((id) => referenceTo(id, scheme)) } }),
};

export const REPLACE: ReferenceChange = {
  prefix: "invalid references: ",
  mayKeep: true,
  absence: "invalid",
  merge: (property, targets, scheme) => ({ set: { [property]: targets.map((id) => referenceTo(id, scheme)) } }),
};

/** A beacon that cannot be read is that of no reference in the list. */
export const REMOVE: ReferenceChange = {
  prefix: undefined,
  mayKeep: false,
  absence: "notFound",
  merge: (property, targets) => ({ remove: { [property]: targets } }),
};

/**
 * Changes the references of one property of an object, in the first class by name that has it (reference-rest 3.7).
 * Checked in this order: the object exists, its new references are sound and point to something, the property holds
 * references. One request a node tells all that; the change itself is the shard's, so that none gets lost between two
 * clients.
 */
export async function changeReferences(
  parts: IngestParts,
  change: ReferenceChange,
  id: ObjectId,
  property: string,
  beacons: readonly string[],
  context: RequestContext,
): Promise<void> {
  const { prefix, absence } = change;
  const { targets, fault } = await parseTargets(beacons, prefix !== undefined, new IngestYielder(parts, context));
  const located = await locateObjects(parts, prefix === undefined ? [id] : [id, ...targets], context);
  const record = firstHolder(holdersOf(located, id), context);
  if (record === undefined) throw unknownObject(absence, id);
  context.observer?.concerns("class", record.definition.class);
  context.rights?.require("update_data", record.definition.class);
  if (prefix !== undefined) {
    const isMissing = (target: ObjectId) => holdersOf(located, target).holding.length === 0;
    let missing = targets.filter(isMissing);
    if (missing.length > 0 && change.mayKeep) {
      const place = { record, id };
      const keeps = await keptReferences(parts, [place], context);
      missing = missing.filter((target) => {
        const kept = keeps(place, { property, id: target });
        if (kept instanceof ShoalError) throw kept;
        return !kept;
      });
    }
    const [first] = missing;
    if (first !== undefined) throw holdersOf(located, first).failure ?? notFound(prefix, first);
    if (fault !== undefined) throw withPrefix(prefix, fault);
  }
  const { beaconScheme } = parts.profile;
  try {
    propertyValidator(record.definition, beaconScheme).requireReference(property);
  } catch (refusal) {
    throw new ShoalError(absence, ShoalError.from(refusal).message);
  }
  const merged = change.merge(property, targets, beaconScheme);
  const shard = parts.router.shardOf(record, id);
  try {
    await parts.router.node(shard).mergeObject(shard, { ...NO_MERGE, ...merged, id }, context);
  } catch (thrown) {
    throw thrown instanceof ShoalError && thrown.code === "notFound" ? unknownObject(absence, id) : thrown;
  }
}

/**
 * The targets of the beacons; with `all`, those before the first fault, which is told, else those without one. Others get
 * their time meanwhile: a fault takes ten microseconds, and a list may be full of them.
 */
async function parseTargets(
  beacons: readonly string[],
  all: boolean,
  yielder: IngestYielder,
): Promise<{ readonly targets: readonly ObjectId[]; readonly fault: unknown }> {
  const targets: ObjectId[] = [];
  for (const beacon of beacons) {
    try {
      targets.push(parseReferenceTarget(beacon));
    } catch (fault) {
      if (all) return { targets, fault };
      if (yielder.isDue) await yielder.next();
    }
  }
  return { targets, fault: undefined };
}

const NO_MERGE = { set: {}, clear: [], append: {}, remove: {}, vector: undefined } as const;

function unknownObject(code: "invalid" | "notFound", id: string): ShoalError {
  return new ShoalError(code, `no object with id '${id}'`);
}

function notFound(prefix: string, id: ObjectId): ShoalError {
  return new ShoalError("invalid", `${prefix}reference not found: no object with id ${id} found`);
}
