import { ShoalError } from "../errors/shoal-error.js";
import type { WireProfile } from "../wire-profile.js";
import { type ObjectId, parseObjectId } from "./object-id.js";

/** The host of every beacon that this server can resolve. */
export const LOCAL_HOST = "localhost";

export type BeaconScheme = WireProfile["beaconScheme"];

/** `scheme://host/id`: an object. */
export interface ShortBeacon {
  readonly host: string;
  readonly id: ObjectId;
}

/** `scheme://host/Class/id/property`: a reference property of an object. */
export interface LongBeacon extends ShortBeacon {
  readonly className: string;
  readonly property: string;
}

const BEACON = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([^/?#]*)([^?#]*)/;

/**
 * No class and property that there can be need more. Names are cut out of beacons, and a part of a string keeps all of it in
 * memory.
 */
const BEACON_CHARS_MAX = 1_024;

/** Parses a beacon of an object; any scheme will do. Fails with `invalid` (texts: reference-rest 3.6). */
export function parseShortBeacon(text: string): ShortBeacon {
  const { host, path } = split(text);
  const [, id, ...rest] = path.split("/", 3);
  if (id === undefined || rest.length > 0) {
    throw new ShoalError("invalid", `invalid cref URI: path must be of format '/<uuid>', but got '${shown(path)}'`);
  }
  return { host, id: parsePathId(id) };
}

/** Parses a beacon of a reference property; any scheme will do. Fails with `invalid` (texts: reference-rest 6.2). */
export function parseLongBeacon(text: string): LongBeacon {
  const { host, path } = split(text);
  const [, className, id, property, ...rest] = path.split("/", 5);
  if (className === undefined || id === undefined || property === undefined || rest.length > 0) {
    throw new ShoalError(
      "invalid",
      "invalid cref URI: must use long-form: path must be of format '/<className>/<uuid>/<propertyName>', " +
        `but got '${shown(path)}'`,
    );
  }
  const parsed = { host, className, id: parsePathId(id), property };
  if (className === "") throw new ShoalError("invalid", "className cannot be empty");
  if (!/^[A-Z]/.test(className)) {
    throw new ShoalError("invalid", `className must start with an uppercase letter, but got ${shown(className)}`);
  }
  if (property === "") throw new ShoalError("invalid", "property cannot be empty");
  if (host !== LOCAL_HOST) {
    throw new ShoalError("invalid", `source class must always point to the local peer, but got ${shown(host)}`);
  }
  return parsed;
}

/** The beacon of an object as the server writes it. */
export function writeShortBeacon(scheme: BeaconScheme, id: ObjectId): string {
  return `${scheme}://${LOCAL_HOST}/${id}`;
}

/** The beacon of a reference property as the server writes it. */
export function writeLongBeacon(scheme: BeaconScheme, beacon: Omit<LongBeacon, "host">): string {
  return `${scheme}://${LOCAL_HOST}/${beacon.className}/${beacon.id}/${beacon.property}`;
}

/** What is no URI with a host counts as a path, as in the reference. */
function split(text: string): { host: string; path: string } {
  if (text.length > BEACON_CHARS_MAX) {
    const rule = `it has ${text.length} characters, at most ${BEACON_CHARS_MAX} are allowed`;
    throw new ShoalError("invalid", `invalid cref URI: ${rule}: '${shown(text)}'`);
  }
  const match = BEACON.exec(text);
  return match === null ? { host: "", path: text } : { host: match[1] ?? "", path: match[2] ?? "" };
}

function parsePathId(segment: string): ObjectId {
  const id = parseObjectId(segment);
  if (id !== undefined) return id;
  throw new ShoalError("invalid", `invalid cref URI: 2nd path segment must be uuid, but got '${shown(segment)}'`);
}

function shown(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
