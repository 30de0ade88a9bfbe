import { isObjectId } from "../route.js";

/** What a beacon points at. */
export interface BeaconTarget {
  readonly id: string;
  /** Only long beacons name it. */
  readonly className: string | undefined;
}

/** Any scheme is one: `svc://localhost/<id>`, `weaviate://localhost/<Class>/<id>`, … Undefined when it names no object. */
export function readBeacon(beacon: string): BeaconTarget | undefined {
  const [, path] = /^[a-z][a-z0-9+.-]*:\/\/[^/]+\/(.+)$/i.exec(beacon) ?? [];
  const [first = "", second] = path?.split("/") ?? [];
  if (isObjectId(first)) return { id: first.toLowerCase(), className: undefined };
  if (second !== undefined && isObjectId(second)) return { id: second.toLowerCase(), className: first };
  return undefined;
}
