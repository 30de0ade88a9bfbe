import type { ReferenceInput } from "@shoal/ingest";
import { isUncheckedObject, quoteText, type RequestWarnings, ShoalError } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import { BATCH_BODY, ONE_BODY } from "../json/json-size.js";
import { parseJson } from "../json/parse-json.js";
import { ParsedItems } from "../json/parsed-items.js";
import { readInTurns } from "../json/read-in-turns.js";
import { wrongBody, wrongElement, wrongMember } from "../json/wrong-member.js";

/** What Go takes for the URI of a request: an absolute path, or a scheme and more (reference-rest 1.3, 3.7). */
const REQUEST_URI = /^(?:\/|[A-Za-z][A-Za-z0-9+.-]*:)/;
const CONTROL_CHARACTER = /\p{Cc}/u;

/** Members that references have in answers, too: who sends back what he has read means nothing by them. */
const REFERENCE_MEMBERS: ReadonlySet<string> = new Set(["beacon", "href", "classification"]);
const BATCH_MEMBERS: ReadonlySet<string> = new Set(["from", "to", "tenant"]);

/**
 * The body of `POST …/references/{property}`: one reference; its beacon, empty when there is none. Unknown members go to
 * `warnings`, here and below. Fails with `malformed`, and with `invalid` for no body and for a beacon that is no URI.
 */
export function readReference(bytes: Buffer, warnings?: RequestWarnings): string {
  return beaconOf(parseJson(bytes).value, undefined, warnings);
}

/** As {@link readReference}, for a long body, in turns of the event loop. */
export async function readLongReference(
  bytes: Buffer,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<string> {
  const { root } = await readInTurns(
    bytes,
    ONE_BODY,
    { kind: "root", sink: parsed((value) => beaconOf(value, undefined, warnings), 1) },
    bounds,
  );
  return root.sink?.items[0] ?? "";
}

/** The body of `PUT …/references/{property}`: a list of references. Fails as {@link readReference}. */
export function readReferences(bytes: Buffer, referencesMax: number, warnings?: RequestWarnings): readonly string[] {
  return listOf(parseJson(bytes, BATCH_BODY).value, referenceList(warnings), referencesMax);
}

/** As {@link readReferences}, for a long body, in turns of the event loop. */
export function readLongReferences(
  bytes: Buffer,
  referencesMax: number,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<readonly string[]> {
  return readLongList(bytes, referenceList(warnings), referencesMax, bounds);
}

/**
 * The body of `DELETE …/references/{property}`. One reference in the specification's text and in the reference, a list in the
 * specification's table: both are taken.
 */
export function readRemovedReferences(
  bytes: Buffer,
  referencesMax: number,
  warnings?: RequestWarnings,
): readonly string[] {
  const { value } = parseJson(bytes, BATCH_BODY);
  if (!Array.isArray(value)) return [beaconOf(value, undefined, warnings)];
  return listOf(value, referenceList(warnings), referencesMax);
}

/** As {@link readRemovedReferences}, for a long body, in turns of the event loop. */
export async function readLongRemovedReferences(
  bytes: Buffer,
  referencesMax: number,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<readonly string[]> {
  if (beginsList(bytes)) return readLongReferences(bytes, referencesMax, bounds, warnings);
  return [await readLongReference(bytes, bounds, warnings)];
}

/** The body of `POST /v1/batch/references` (reference-rest 6.2). Null counts as an empty list. */
export function readReferenceBatch(
  bytes: Buffer,
  referencesMax: number,
  warnings?: RequestWarnings,
): readonly ReferenceInput[] {
  return listOf(parseJson(bytes, BATCH_BODY).value, referenceBatch(warnings), referencesMax);
}

/** As {@link readReferenceBatch}, for a long body, in turns of the event loop. */
export function readLongReferenceBatch(
  bytes: Buffer,
  referencesMax: number,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<readonly ReferenceInput[]> {
  return readLongList(bytes, referenceBatch(warnings), referencesMax, bounds);
}

/** A body that is a list: what it is called, what it must be, and how an item is read; `at` is its place. */
interface ListForm<Item> {
  readonly what: string;
  readonly wanted: string;
  readonly itemOf: (value: unknown, at: number) => Item;
}

function referenceList(warnings: RequestWarnings | undefined): ListForm<string> {
  const itemOf = (value: unknown, at: number) => beaconOf(value, at, warnings);
  return { what: "list", wanted: "a list of references", itemOf };
}

function referenceBatch(warnings: RequestWarnings | undefined): ListForm<ReferenceInput> {
  const itemOf = (value: unknown, at: number): ReferenceInput => {
    const member = membersOf(value, at);
    const [from, to] = [uriOf(member("from"), "from", at), uriOf(member("to"), "to", at)];
    const members = warnOfOthers(value, BATCH_MEMBERS, at, warnings);
    const tenant = members <= 2 ? undefined : member("tenant");
    return tenant === undefined ? { from, to } : { from, to, tenant };
  };
  return { what: "batch", wanted: "a list of objects with from and to", itemOf };
}

function listOf<Item>(
  value: unknown,
  { what, wanted, itemOf }: ListForm<Item>,
  referencesMax: number,
): readonly Item[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw wrongBody(value, wanted);
  requireLength(value.length, what, referencesMax);
  return value.map(itemOf);
}

async function readLongList<Item>(
  bytes: Buffer,
  { what, wanted, itemOf }: ListForm<Item>,
  referencesMax: number,
  bounds?: WorkBounds,
): Promise<readonly Item[]> {
  const sink = parsed(itemOf, referencesMax);
  const { root } = await readInTurns(bytes, BATCH_BODY, { kind: "rootList", sink }, bounds);
  if (root.sample === null) return [];
  if (!Array.isArray(root.sample)) throw wrongBody(root.sample, wanted);
  requireLength(root.length, what, referencesMax);
  return sink.items;
}

function parsed<Item>(itemOf: (value: unknown, at: number) => Item, itemsMax: number): ParsedItems<Item> {
  return new ParsedItems(
    ({ first, text }) => (JSON.parse(text()) as unknown[]).map((value, at) => itemOf(value, first + at)),
    itemsMax,
  );
}

function beginsList(bytes: Buffer): boolean {
  let at = 0;
  while (at < bytes.length && " \n\r\t".includes(String.fromCharCode(bytes[at] ?? 0))) at++;
  return bytes[at] === 0x5b;
}

function requireLength(length: number, what: string, referencesMax: number): void {
  if (length <= referencesMax) return;
  const message = `the ${what} has ${length} references, at most ${referencesMax} are allowed (BATCH_REFERENCES_MAX)`;
  throw new ShoalError("tooLarge", message);
}

/** `at` is the place in the list that the body is; without it the body is the reference. */
function beaconOf(value: unknown, at?: number, warnings?: RequestWarnings): string {
  const beacon = uriOf(membersOf(value, at)("beacon"), "beacon", at);
  warnOfOthers(value, REFERENCE_MEMBERS, at, warnings);
  return beacon;
}

/** Tells of the members that are none of `known`. How many there are. */
function warnOfOthers(
  value: unknown,
  known: ReadonlySet<string>,
  at: number | undefined,
  warnings: RequestWarnings | undefined,
): number {
  if (value === null) return 0;
  const names = Object.keys(value as object);
  for (const name of names) {
    if (known.has(name) || known.has(name.toLowerCase())) continue;
    warnings?.addUnknown(at === undefined ? "" : "[]", name, () => known);
  }
  return names.length;
}

/** The members of an object by their names in any case; of null, none (reference-rest 1.4). */
function membersOf(value: unknown, at: number | undefined): (name: string) => unknown {
  if (value === null) return () => undefined;
  if (!isUncheckedObject(value)) {
    throw at === undefined ? wrongBody(value, "an object") : wrongElement(value, at, "an object");
  }
  return (name) => {
    if (Object.hasOwn(value, name)) return value[name];
    const key = Object.keys(value).find((candidate) => candidate.toLowerCase() === name);
    return key === undefined ? undefined : value[key];
  };
}

export function isRequestUri(text: string): boolean {
  return REQUEST_URI.test(text) && !CONTROL_CHARACTER.test(text);
}

/** A text that may be absent, null or empty, but is a URI when it is there. */
function uriOf(value: unknown, name: string, at: number | undefined): string {
  if (value === undefined || value === null || value === "") return "";
  if (typeof value !== "string") throw wrongMember(value, pathOf(name, at), "a string with a URI");
  if (isRequestUri(value)) return value;
  throw new ShoalError(
    "invalid",
    `member '${pathOf(name, at)}' must be a URI such as svc://localhost/<uuid>, got ${quoteText(value, SHOWN_CHARS_MAX)}`,
  );
}

function pathOf(name: string, at: number | undefined): string {
  return at === undefined ? name : `[${at}].${name}`;
}

const SHOWN_CHARS_MAX = 200;
