import { eventLoop } from "@shoal/fair-share";
import { decodeProperties, type ObjectId, propertyValidator, type ReferenceTarget } from "@shoal/model";
import type { ClassRecord, RequestContext } from "@shoal/rpc";
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

/** Of each object's targets those that it does not hold yet, in the same property: what has to be there. */
export async function newTargets(
  parts: Parts,
  items: readonly { readonly place: StoredPlace; readonly targets: readonly ReferenceTarget[] }[],
  context: RequestContext,
): Promise<readonly (readonly ReferenceTarget[])[]> {
  const groups = new Map<string, { readonly place: StoredPlace; readonly ids: Set<ObjectId> }>();
  for (const { place } of items) {
    if (!mayKeep(parts, place.record, context)) continue;
    const { classId, shardName } = parts.router.shardOf(place.record, place.id);
    const key = `${classId}/${shardName}`;
    const group = groups.get(key) ?? { place, ids: new Set() };
    group.ids.add(place.id);
    groups.set(key, group);
  }
  const held = new Set<string>();
  for (const { place, ids } of groups.values()) {
    const shard = parts.router.shardOf(place.record, place.id);
    const validator = propertyValidator(place.record.definition, parts.profile.beaconScheme);
    const all = [...ids];
    for (let from = 0; from < all.length; from += READ_TOGETHER) {
      if (from > 0) await eventLoop.next(context.share);
      const asked = all.slice(from, from + READ_TOGETHER);
      for (const object of await parts.router.node(shard).getObjects(shard, asked, CONTENT, context)) {
        if (object === undefined) continue;
        for (const target of validator.referenceTargets(decodeProperties(object))) {
          held.add(keyOf({ record: place.record, id: object.id }, target));
        }
      }
    }
  }
  return items.map(({ place, targets }) => targets.filter((target) => !held.has(keyOf(place, target))));
}

function keyOf({ record, id }: StoredPlace, target: Pick<ReferenceTarget, "property" | "id">): string {
  return `${record.classId}/${id}/${target.property}/${target.id}`;
}
