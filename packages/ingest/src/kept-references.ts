import { decodeProperties, type ObjectId, propertyValidator, type ReferenceTarget, ShoalError } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import { eventLoop, type RequestContext } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";

/** An object that is there before it is written, if it is. */
export interface StoredPlace {
  readonly record: ClassRecord;
  readonly id: ObjectId;
}

type Parts = Pick<IngestParts, "router" | "schema" | "wholeSchema" | "profile">;

/**
 * Whether whoever asks may write back references that an object of the class holds, wherever they point to: where roles hide
 * classes from him and he may read the object. He has read them, so that he learns nothing, and it is the same
 * whether what they point to is hidden or gone.
 */
function mayKeep({ schema, wholeSchema }: Parts, { definition }: ClassRecord, { rights }: RequestContext): boolean {
  const isRestricted = wholeSchema !== undefined && schema.snapshot !== wholeSchema.snapshot;
  return isRestricted && rights?.mayRead(definition.class) === true;
}

const CONTENT = { properties: true, vector: false, extras: false } as const;
/** Objects that are read together: a batch may name any number of large ones. */
const READ_TOGETHER = 16;

/** Whether an object holds a reference which it may keep; why that is not known. */
export type Keeps = (place: StoredPlace, target: Pick<ReferenceTarget, "property" | "id">) => boolean | ShoalError;

/** What objects hold already: what it points to need not be there. Never fails: the error of a shard counts for its own objects. */
export async function keptReferences(
  parts: Parts,
  places: readonly StoredPlace[],
  context: RequestContext,
): Promise<Keeps> {
  const groups = new Map<string, { readonly place: StoredPlace; readonly ids: Set<ObjectId> }>();
  for (const place of places) {
    if (!mayKeep(parts, place.record, context)) continue;
    const { classId, shardName } = parts.router.shardOf(place.record, place.id);
    const key = `${classId}/${shardName}`;
    const group = groups.get(key) ?? { place, ids: new Set() };
    group.ids.add(place.id);
    groups.set(key, group);
  }
  const held = new Set<string>();
  const failures = new Map<string, ShoalError>();
  // A shard that takes its time to fail must not take the time of the others.
  await Promise.all(
    Array.from(groups.values(), async ({ place, ids }) => {
      const all = [...ids];
      for (let from = 0; from < all.length; from += READ_TOGETHER) {
        try {
          if (from > 0) await eventLoop.next(context.share);
          for (const key of await heldBy(parts, place, all.slice(from, from + READ_TOGETHER), context)) held.add(key);
        } catch (thrown) {
          const error = ShoalError.from(thrown);
          for (const id of all.slice(from)) failures.set(keyOf({ record: place.record, id }), error);
          break;
        }
      }
    }),
  );
  return (place, target) => held.has(keyOf(place, target)) || (failures.get(keyOf(place)) ?? false);
}

/** The keys of the references of some objects that are in one shard with `place`. */
async function heldBy(
  { router, profile }: Parts,
  { record, id }: StoredPlace,
  ids: readonly ObjectId[],
  context: RequestContext,
): Promise<readonly string[]> {
  const shard = router.shardOf(record, id);
  const validator = propertyValidator(record.definition, profile.beaconScheme);
  const objects = await router.node(shard).getObjects(shard, ids, CONTENT, context);
  return objects.flatMap((object) => {
    if (object === undefined) return [];
    const targets = validator.referenceTargets(decodeProperties(object));
    return targets.map((target) => keyOf({ record, id: object.id }, target));
  });
}

function keyOf({ record, id }: StoredPlace, target?: Pick<ReferenceTarget, "property" | "id">): string {
  return `${record.classId}/${id}/${target?.property}/${target?.id}`;
}
