import type { ReferenceInput } from "@shoal/ingest";
import { isUncheckedObject, ShoalError } from "@shoal/model";
import { wrongMember, wrongValue } from "../json/json-kind.js";
import { BATCH_BODY } from "../json/json-size.js";
import { parseJson } from "../json/parse-json.js";

/** What Go takes for the URI of a request: an absolute path, or a scheme and more (reference-rest 1.3, 3.7). */
const REQUEST_URI = /^(?:\/|[A-Za-z][A-Za-z0-9+.-]*:)[^\p{Cc}]*$/u;

/**
 * The body of `POST …/references/{property}`: one reference; its beacon, empty when there is none. Fails with
 * `malformed`, and with `invalid` for no body and for a beacon that is no URI.
 */
export function readReference(bytes: Buffer): string {
  return beaconOf(parseJson(bytes, "body").value);
}

/** The body of `PUT …/references/{property}`: a list of references. Fails as {@link readReference}. */
export function readReferences(bytes: Buffer, referencesMax: number): readonly string[] {
  const { value } = parseJson(bytes, "body", BATCH_BODY);
  if (value === null) return [];
  if (!Array.isArray(value)) throw wrongValue(value, "models.MultipleRef");
  return listOf(value, referencesMax);
}

/**
 * The body of `DELETE …/references/{property}`. One reference in the specification's text and in the reference, a list in
 * the specification's table: both are taken.
 */
export function readRemovedReferences(bytes: Buffer, referencesMax: number): readonly string[] {
  const { value } = parseJson(bytes, "body", BATCH_BODY);
  return Array.isArray(value) ? listOf(value, referencesMax) : [beaconOf(value)];
}

/** The body of `POST /v1/batch/references` (reference-rest 6.2). Null counts as an empty list. */
export function readReferenceBatch(bytes: Buffer, referencesMax: number): readonly ReferenceInput[] {
  const { value } = parseJson(bytes, "body", BATCH_BODY);
  if (value === null) return [];
  if (!Array.isArray(value)) throw wrongValue(value, "[]*models.BatchReference");
  requireLength(value, "batch", referencesMax);
  return value.map((item: unknown) => {
    const member = membersOf(item, "models.BatchReference");
    return { from: uriOf(member("from"), "from", "BatchReference"), to: uriOf(member("to"), "to", "BatchReference") };
  });
}

function listOf(value: readonly unknown[], referencesMax: number): readonly string[] {
  requireLength(value, "list", referencesMax);
  return value.map(beaconOf);
}

function requireLength(value: readonly unknown[], what: string, referencesMax: number): void {
  if (value.length <= referencesMax) return;
  const message = `the ${what} has ${value.length} references, more than ${referencesMax} (BATCH_REFERENCES_MAX)`;
  throw new ShoalError("tooLarge", message);
}

function beaconOf(value: unknown): string {
  return uriOf(membersOf(value, "models.SingleRef")("beacon"), "beacon", "SingleRef");
}

/** The members of an object by their names in any case; of null, none (reference-rest 1.4). */
function membersOf(value: unknown, type: string): (name: string) => unknown {
  if (value === null) return () => undefined;
  if (!isUncheckedObject(value)) throw wrongValue(value, type);
  return (name) => {
    if (Object.hasOwn(value, name)) return value[name];
    const key = Object.keys(value).find((candidate) => candidate.toLowerCase() === name);
    return key === undefined ? undefined : value[key];
  };
}

export function isRequestUri(text: string): boolean {
  return REQUEST_URI.test(text);
}

/** A text that may be absent, null or empty, but is a URI when it is there. */
function uriOf(value: unknown, name: string, struct: string): string {
  if (value === undefined || value === null || value === "") return "";
  if (typeof value !== "string") throw wrongMember(value, `${struct}.${name}`, "strfmt.URI");
  if (isRequestUri(value)) return value;
  const shown = value.length <= SHOWN_CHARS_MAX ? value : `${value.slice(0, SHOWN_CHARS_MAX)}…`;
  throw new ShoalError("invalid", `${name} in body must be of type uri: ${JSON.stringify(shown)}`);
}

const SHOWN_CHARS_MAX = 200;
