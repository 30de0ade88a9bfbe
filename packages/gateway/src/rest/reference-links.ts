import {
  type BeaconScheme,
  type Json,
  type JsonObject,
  type Properties,
  parseObjectId,
  writeShortBeacon,
} from "@shoal/model";

/**
 * Properties as they are shown: each reference with its beacon in the profile's scheme and an `href` to the object it
 * points to (reference-rest 3.6). Other properties are left as they are, and so is what does not look like a reference.
 */
export function linkReferences(
  properties: Properties,
  referenceNames: readonly string[],
  beaconScheme: BeaconScheme,
  origin: string,
): Properties {
  const linked: Record<string, Json> = { ...properties };
  for (const name of referenceNames) {
    const references = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!Array.isArray(references)) continue;
    linked[name] = references.map((reference: Json) => linkReference(reference, beaconScheme, origin));
  }
  return linked;
}

function linkReference(reference: Json, beaconScheme: BeaconScheme, origin: string): Json {
  if (typeof reference !== "object" || reference === null || Array.isArray(reference)) return reference;
  const { beacon } = reference as JsonObject;
  if (typeof beacon !== "string") return reference;
  const id = parseObjectId(beacon.slice(beacon.lastIndexOf("/") + 1));
  if (id === undefined) return reference;
  // A classification beside the beacon is only shown on demand; nothing stores one yet.
  return { beacon: writeShortBeacon(beaconScheme, id), href: `${origin}/v1/objects/${id}` };
}
