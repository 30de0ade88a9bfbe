import type { SeededRandom } from "@shoal/seeded-random";
import type { ApiOperation, JsonSchema } from "./api-document.js";
import type { KnownNames, KnownObject } from "./known-names.js";
import { largeBody } from "./large-bodies.js";
import { type FuzzRequest, makeOdd } from "./odd-requests.js";
import { damaged, withOddMembers, writeOdd } from "./odd-values.js";
import type { ValidValues } from "./valid-values.js";

/** Ordinary bodies a large one, which takes as much of the server's time as some hundred others. */
const ORDINARY_BODIES = 400;

/** Twice what the server under test takes. */
const BODY_CHARS_MAX = 16 * 1024 * 1024;

/** A request for the operation: about a third as it should be, the others with something odd about them. */
export function makeRequest(
  operation: ApiOperation,
  values: ValidValues,
  names: KnownNames,
  chance: SeededRandom,
): FuzzRequest {
  const about = names.object(chance);
  const request: FuzzRequest = {
    operation: operation.name,
    method: operation.method,
    target: targetOf(operation, values, names, about, chance),
    headers: [],
    body: undefined,
    framing: "length",
    isOddTransport: false,
  };
  const oddity = chance.below(6);
  if (operation.body !== undefined) {
    const isLarge = chance.oneIn(ORDINARY_BODIES);
    const value = isLarge ? undefined : bodyOf(operation, operation.body, values, names, about, chance);
    const text = isLarge
      ? largeBody(about, chance)
      : oddity === 2 || oddity === 3
        ? writeOdd(withOddMembers(value, chance))
        : JSON.stringify(value);
    // Values that hold each other many times over come to hundreds of megabytes.
    const sent = text.length > BODY_CHARS_MAX ? text.slice(0, BODY_CHARS_MAX) : text;
    request.body = oddity === 4 ? damaged(sent, chance) : Buffer.from(sent);
    request.headers.push(["Content-Type", "application/json"]);
    if (request.body.length === 0 && chance.oneIn(2)) request.body = undefined;
  }
  if (oddity === 5 || (operation.body === undefined && oddity > 2)) makeOdd(request, chance);
  return request;
}

function bodyOf(
  operation: ApiOperation,
  schema: JsonSchema,
  values: ValidValues,
  names: KnownNames,
  about: KnownObject,
  chance: SeededRandom,
): unknown {
  if (operation.name.startsWith("startClassification") && chance.oneIn(4)) return names.classification?.body;
  if (operation.examples.length > 0 && chance.oneIn(20)) return chance.pick(operation.examples);
  // Nearly all of a class may not change.
  const shown = operation.name === "updateClass" && !chance.oneIn(3) ? names.shown.get(about.className) : undefined;
  if (shown === undefined) return values.of(schema, about);
  const vectorIndexConfig = { ...(shown.vectorIndexConfig as object), ef: chance.pick([-1, 0, 16, 500]) };
  return { ...shown, vectorIndexConfig, description: chance.pick(["", "changed", "x".repeat(2_000)]) };
}

function targetOf(
  operation: ApiOperation,
  values: ValidValues,
  names: KnownNames,
  { id, className }: KnownObject,
  chance: SeededRandom,
): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === "class") return className;
    if (name === "id") return id;
    if (name === "property") return names.referenceName(chance, className);
    if (name === "classification" && chance.oneIn(2)) return names.classification?.id ?? "";
    return "x";
  });
  const query = operation.query
    .filter(() => chance.oneIn(3))
    .map(({ name, schema }) => `${name}=${encodeURIComponent(values.parameter(name, schema))}`);
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}
