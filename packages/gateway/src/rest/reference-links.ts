import {
  type BeaconScheme,
  type Json,
  type JsonObject,
  jsonMembers,
  type Properties,
  parseObjectId,
  writeShortBeacon,
} from "@shoal/model";

/**
 * Properties as they are shown: each reference with its beacon in the profile's scheme and an `href` to the object it
 * points to (reference-rest 3.6). Other properties are left as they are, and so is what does not look like a reference.
 * `classification`: what a classification has said of the reference is shown, too.
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
    if (references !== undefined) linked[name] = linkList(references, beaconScheme, origin, false);
  }
  return linked;
}

/**
 * {@link linkReferences} of properties as they are stored, without parsing anything but the references; with
 * `classification` a reference shows what a classification has said of it. A string whose char codes are bytes of UTF-8.
 */
export function linkStoredReferences(
  propertiesJson: Buffer,
  referenceNames: readonly string[],
  beaconScheme: BeaconScheme,
  origin: string,
  classification: boolean,
): string {
  const members = jsonMembers(propertiesJson);
  const lists = referenceNames.flatMap((name) => members.get(name) ?? []);
  lists.sort((a, b) => a.byteOffset - b.byteOffset);
  let json = "";
  let copied = 0;
  for (const list of lists) {
    const start = list.byteOffset - propertiesJson.byteOffset;
    const references = JSON.parse(propertiesJson.toString("utf8", start, start + list.length)) as Json;
    json += propertiesJson.toString("latin1", copied, start);
    json += Buffer.from(JSON.stringify(linkList(references, beaconScheme, origin, classification))).toString("latin1");
    copied = start + list.length;
  }
  return json + propertiesJson.toString("latin1", copied);
}

function linkList(references: Json, beaconScheme: BeaconScheme, origin: string, classification: boolean): Json {
  if (!Array.isArray(references)) return references;
  return references.map((reference: Json) => linkReference(reference, beaconScheme, origin, classification));
}

function linkReference(reference: Json, beaconScheme: BeaconScheme, origin: string, classification: boolean): Json {
  if (typeof reference !== "object" || reference === null || Array.isArray(reference)) return reference;
  const { beacon, classification: said } = reference as JsonObject;
  if (typeof beacon !== "string") return reference;
  const id = parseObjectId(beacon.slice(beacon.lastIndexOf("/") + 1));
  if (id === undefined) return reference;
  const linked = { beacon: writeShortBeacon(beaconScheme, id), href: `${origin}/v1/objects/${id}` };
  return classification && said !== undefined ? { ...linked, classification: said } : linked;
}
