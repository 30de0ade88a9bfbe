import { parseObjectId, quoteText, ShoalError, type StoredObject } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import type { QueryService } from "@shoal/query";
import { InnerContext } from "@shoal/runtime";
import { type HttpRequest, isEmptyParameter, queryParameter, type RequestContent } from "../http/http-request.js";
import type { HttpResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { writeInSteps } from "../json/write-in-steps.js";
import type { HeldResponse, ResponseBudget } from "../response-budget.js";
import type { RowGate } from "../row-gate.js";
import { type Include, parseInclude } from "./include.js";
import type { ObjectWriter } from "./object-json.js";

export interface ListSettings {
  readonly queryDefaultsLimit: number;
  readonly queryMaximumResults: number;
  readonly rowGate: RowGate;
  readonly responses: ResponseBudget;
  /** None when absent. */
  readonly modules?: EnabledModules;
}

/** `GET /v1/objects`: a page of objects (reference-rest 2.6, decisions.md). `totalResults` counts this page. */
export function listRoute(
  query: QueryService,
  writer: ObjectWriter,
  { queryDefaultsLimit, queryMaximumResults, rowGate, responses, modules }: ListSettings,
): Route {
  async function list(request: HttpRequest): Promise<HttpResponse> {
    const place = placeOf(request);
    const include = parseInclude(queryParameter(request, "include"), modules);
    const wanted = { className: queryParameter(request, "class"), ...place, fields: include.fields };
    const reached = (wanted.limit ?? queryDefaultsLimit) + (wanted.offset ?? 0);
    // More than there may be are refused, not read.
    const rows = reached > queryMaximumResults ? 0 : reached;
    return rowGate.run(rows, request.context, () => page(wanted, include, request));
  }
  async function page(wanted: Parameters<QueryService["list"]>[0], include: Include, { context }: HttpRequest) {
    const held = responses.begin(context);
    try {
      const objects = await query.list(wanted, new InnerContext(context, { rowBytes: held }));
      const added =
        include.additional.length === 0 ? [] : await query.additional(objects, include.additional, "restList", context);
      const write = (object: StoredObject, at: number) => writer.stored(object, include, added[at]);
      const parts = partsOf([...objects], write, held, context);
      return { status: 200, chunks: await writeInSteps(parts, "latin1", context.share) };
    } catch (thrown) {
      throw held.refusal ?? thrown;
    } finally {
      held.end();
    }
  }
  return {
    method: "GET",
    path: "/v1/objects",
    body: "none",
    access: { verb: "list", resource: "objects", action: "read_data" },
    timeout: "request",
    handle: list,
  };
}

/** So much is written before it is asked whether the client is still there: asking costs more than a small response. */
const UNASKED_BYTES = 512 * 1024;

/** The text of a page; rows make room for it as they are written. Fails with `tooLarge` or `overloaded`. */
function* partsOf(
  objects: (StoredObject | undefined)[],
  write: (object: StoredObject, at: number) => string,
  held: HeldResponse,
  context: HttpRequest["context"],
) {
  yield '{"deprecations":null,"objects":[';
  let unasked = 0;
  for (const [at, object] of objects.entries()) {
    if (object === undefined) continue;
    const json = write(object, at);
    objects[at] = undefined;
    held.add(-object.propertiesJson.length - (object.vector?.byteLength ?? 0));
    held.addText(json.length);
    unasked += json.length;
    if (unasked > UNASKED_BYTES) {
      context.signal?.throwIfAborted();
      unasked = 0;
    }
    yield at === 0 ? json : `,${json}`;
  }
  yield objects.length === 0 ? "]}\n" : `],"totalResults":${objects.length}}\n`;
}

/** Which part of the list is asked for. Fails with `invalid` on a parameter that is of the wrong type. */
function placeOf(request: RequestContent) {
  const [limit, offset] = [integerParameter(request, "limit"), integerParameter(request, "offset")];
  const after = queryParameter(request, "after");
  const start = isEmptyParameter(request, "after") ? ("" as const) : undefined;
  return { limit, offset, after: after === undefined ? start : uuidOf(after) };
}

const INT64_MAX = 2n ** 63n - 1n;

/** An int64 query parameter; beyond 2^53 it is the nearest float64, far above every limit. */
function integerParameter(request: RequestContent, name: string): number | undefined {
  const text = queryParameter(request, name);
  if (text === undefined) return undefined;
  const wellFormed = /^[+-]?\d{1,19}$/.test(text);
  if (wellFormed && BigInt(text.replace("+", "")) <= INT64_MAX && BigInt(text.replace("+", "")) >= -INT64_MAX - 1n) {
    return Number(text);
  }
  throw new ShoalError(
    "invalid",
    `query parameter '${name}' must be an integer of at most 64 bits, got ${quoteText(text)}`,
  );
}

function uuidOf(after: string) {
  const id = parseObjectId(after);
  if (id === undefined)
    throw new ShoalError("invalid", `query parameter 'after' must be a UUID, got ${quoteText(after)}`);
  return id;
}
