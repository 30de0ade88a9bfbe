import type { ReferenceInput } from "@shoal/ingest";
import { isUncheckedObject, quoteText, type RequestWarnings, ShoalError } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import type { ItemForm } from "../json/item-list.js";
import { BATCH_BODY, ONE_BODY } from "../json/json-size.js";
import { readItems } from "../json/read-items.js";
import { wrongBody, wrongElement, wrongMember } from "../json/wrong-member.js";

/** What Go takes for the URI of a request: an absolute path, or a scheme and more (reference-rest 1.3, 3.7). */
const REQUEST_URI = /^(?:\/|[A-Za-z][A-Za-z0-9+.-]*:)/;
const CONTROL_CHARACTER = /\p{Cc}/u;

/** Members that references have in responses, too: who sends back what he has read means nothing by them. */
const REFERENCE_MEMBERS: ReadonlySet<string> = new Set(["beacon", "href", "classification"]);
const BATCH_MEMBERS: ReadonlySet<string> = new Set(["from", "to", "tenant"]);

/**
 * The body of `POST …/references/{property}`: one reference; its beacon, empty when there is none. Unknown members go to
 * `warnings`, here and below. Fails with `malformed`, and with `invalid` for no body and for a beacon that is no URI.
 */
export async function readReference(bytes: Buffer, bounds: WorkBounds, warnings?: RequestWarnings): Promise<string> {
  const form = { itemsMax: 1, itemOf: (value: unknown) => beaconOf(value, undefined, warnings) };
  const { root } = await readItems(bytes, ONE_BODY, { kind: "root", form }, bounds);
  return root.list?.items[0] ?? "";
}

/** The body of `PUT …/references/{property}`: a list of references. Fails as {@link readReference}. */
export function readReferences(
  bytes: Buffer,
  referencesMax: number,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<readonly string[]> {
  const itemOf = (value: unknown, at: number) => beaconOf(value, at, warnings);
  return readList(bytes, { what: "list", wanted: "a list of references", itemsMax: referencesMax, itemOf }, bounds);
}

/**
 * The body of `DELETE …/references/{property}`. One reference in the specification's text and in the reference, a list in the
 * specification's table: both are taken.
 */
export async function readRemovedReferences(
  bytes: Buffer,
  referencesMax: number,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<readonly string[]> {
  if (beginsList(bytes)) return readReferences(bytes, referencesMax, bounds, warnings);
  return [await readReference(bytes, bounds, warnings)];
}

/** The body of `POST /v1/batch/references` (reference-rest 6.2). Null counts as an empty list. */
export function readReferenceBatch(
  bytes: Buffer,
  referencesMax: number,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<readonly ReferenceInput[]> {
  const itemOf = (value: unknown, at: number): ReferenceInput => {
    const member = membersOf(value, at);
    const [from, to] = [uriOf(member("from"), "from", at), uriOf(member("to"), "to", at)];
    const members = warnOfOthers(value, BATCH_MEMBERS, at, warnings);
    const tenant = members <= 2 ? undefined : member("tenant");
    return tenant === undefined ? { from, to } : { from, to, tenant };
  };
  const wanted = "a list of objects with from and to";
  return readList(bytes, { what: "batch", wanted, itemsMax: referencesMax, itemOf }, bounds);
}

/** A body that is a list: what it is called and what it must be. */
interface ListForm<Item> extends ItemForm<Item> {
  readonly what: string;
  readonly wanted: string;
}

async function readList<Item>(bytes: Buffer, form: ListForm<Item>, bounds: WorkBounds): Promise<readonly Item[]> {
  const { root } = await readItems(bytes, BATCH_BODY, { kind: "rootList", form }, bounds);
  if (root.sample === null) return [];
  if (root.list === undefined) throw wrongBody(root.sample, form.wanted);
  const { length, items } = root.list;
  if (length <= form.itemsMax) return items;
  const message = `the ${form.what} has ${length} references, at most ${form.itemsMax} are allowed (BATCH_REFERENCES_MAX)`;
  throw new ShoalError("tooLarge", message);
}

function beginsList(bytes: Buffer): boolean {
  let at = 0;
  while (at < bytes.length && " \n\r\t".includes(String.fromCharCode(bytes[at] ?? 0))) at++;
  return bytes[at] === 0x5b;
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
