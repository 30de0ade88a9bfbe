import type { IngestService, ObjectInput } from "@shoal/ingest";
import type { ObjectId, StoredObject, WireProfile } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import type { QueryService } from "@shoal/query";
import { InnerContext } from "@shoal/runtime";
import { type HttpRequest, pathId, queryParameter } from "../http/http-request.js";
import { EMPTY_OK, type HttpResponse, NO_CONTENT, notFoundResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import type { ResponseBudget } from "../response-budget.js";
import { parseInclude } from "./include.js";
import { readObjectBody } from "./object-body.js";
import type { ObjectWriter } from "./object-json.js";

export interface ObjectRouteParts {
  readonly ingest: IngestService;
  readonly query: QueryService;
  readonly modules: EnabledModules;
  readonly writer: ObjectWriter;
  readonly profile: Pick<WireProfile, "putObjectReturnsObject" | "notFoundHasBody">;
  readonly responses: ResponseBudget;
}

/** The operations on one object (reference-rest 2.7, 3; decisions.md). */
export function objectRoutes(parts: ObjectRouteParts): readonly Route[] {
  const { ingest, query, modules, writer, profile, responses } = parts;

  const unknownObject = (id: ObjectId): HttpResponse => notFoundResponse(`no object with id '${id}'`, profile);

  async function get(request: HttpRequest): Promise<HttpResponse> {
    const id = pathId(request);
    const include = parseInclude(queryParameter(request, "include"), modules);
    const held = responses.beginObject(request.context);
    try {
      const object = await query.objectById(id, include.fields, new InnerContext(request.context, { rowBytes: held }));
      if (object === undefined) return unknownObject(id);
      const [added] =
        include.additional.length === 0
          ? []
          : await query.additional([object], include.additional, "restObject", request.context);
      return spliced(writer.stored(object, include, added));
    } finally {
      held.end();
    }
  }

  async function head(request: HttpRequest): Promise<HttpResponse> {
    const id = pathId(request);
    const found: StoredObject | undefined = await query.objectById(id, NO_FIELDS, request.context);
    return found === undefined ? unknownObject(id) : NO_CONTENT;
  }

  async function post(request: HttpRequest): Promise<HttpResponse> {
    const input = await readBody(request);
    const written = await ingest.createObject(input, request.context);
    request.context.observer?.wrote(written.object.className, 1, 0);
    return { status: 200, body: `${writer.written(written, input.id || undefined, input)}\n` };
  }

  async function put(request: HttpRequest): Promise<HttpResponse> {
    const id = pathId(request);
    const input = await readBody(request);
    const written = await ingest.replaceObject(id, input, request.context);
    request.context.observer?.wrote(written.object.className, 1, 0);
    if (!profile.putObjectReturnsObject) return NO_CONTENT;
    return { status: 200, body: `${writer.written(written, undefined, input)}\n` };
  }

  async function patch(request: HttpRequest): Promise<HttpResponse> {
    const id = pathId(request);
    const input = await readBody(request);
    await ingest.mergeObject(id, input, request.context);
    request.context.observer?.wrote(input.className, 1, 0);
    return NO_CONTENT;
  }

  async function remove(request: HttpRequest): Promise<HttpResponse> {
    const id = pathId(request);
    if (!(await ingest.deleteObject(id, request.context))) return unknownObject(id);
    request.context.observer?.wrote(undefined, 1, 0);
    return NO_CONTENT;
  }

  async function validate(request: HttpRequest): Promise<HttpResponse> {
    await ingest.validateObject(await readBody(request), request.context);
    return EMPTY_OK;
  }

  const one = "/v1/objects/{id}";
  return [
    { method: "GET", path: one, ...withoutBody("get"), handle: get },
    { method: "HEAD", path: one, ...withoutBody("get"), handle: head },
    { method: "PUT", path: one, ...withBody("update", ONE), ...counted("replace_object"), handle: put },
    { method: "PATCH", path: one, ...withBody("update", ONE), ...counted("merge_object"), handle: patch },
    { method: "DELETE", path: one, ...withoutBody("delete"), ...counted("delete_object"), handle: remove },
    { method: "POST", path: "/v1/objects", ...withBody("create", ALL), ...counted("create_object"), handle: post },
    { method: "POST", path: "/v1/objects/validate", ...withBody("validate", ALL), handle: validate },
    { method: "GET", path: "/v1/{id:uuid}", ...withoutBody("get"), handle: get },
  ];
}

/** What permissions are about: one object, or the objects as such. */
const ONE = "objects/{id}";
const ALL = "objects";

/** An operation on one object that reads no body. */
function withoutBody(verb: "get" | "delete") {
  const action = verb === "get" ? "read_data" : "delete_data";
  return { body: "none", access: { verb, resource: ONE, action }, timeout: "request" } as const;
}

function withBody(verb: "create" | "update" | "validate", resource: string) {
  const action = verb === "validate" ? "read_data" : (`${verb}_data` as const);
  return { body: "json", access: { verb, resource, action }, timeout: "request" } as const;
}

function counted(action: string) {
  return { audited: { action, recorded: "count" } } as const;
}

const NO_FIELDS = { properties: false, vector: false, extras: false };

function readBody({ body, context, warnings }: HttpRequest): Promise<ObjectInput> {
  return readObjectBody(body, context, warnings);
}

/** A JSON answer from a string of bytes. */
function spliced(json: string): HttpResponse {
  return { status: 200, body: `${json}\n`, encoding: "latin1" };
}
