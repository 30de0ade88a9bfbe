import { type IngestService, type ObjectInput, parseBodyId } from "@shoal/ingest";
import type { ObjectId, StoredObject, WireProfile } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import type { HttpRequest, RequestContent } from "../http/http-request.js";
import { queryParameter } from "../http/http-request.js";
import { EMPTY_OK, errorResponse, type HttpResponse, NO_CONTENT } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { parseInclude } from "./include.js";
import { readObjectBody } from "./object-body.js";
import type { ObjectWriter } from "./object-json.js";
import { pathId } from "./path-id.js";

export interface ObjectRouteParts {
  readonly ingest: IngestService;
  readonly query: QueryService;
  readonly writer: ObjectWriter;
  readonly profile: Pick<WireProfile, "putObjectAnswersObject">;
}

/** The operations on one object (reference-rest 2.7, 3; decisions.md). */
export function objectRoutes(parts: ObjectRouteParts): readonly Route[] {
  const { ingest, query, writer, profile } = parts;

  async function get(request: HttpRequest): Promise<HttpResponse> {
    const id = pathId(request);
    const include = parseInclude(queryParameter(request, "include"));
    const object = await query.objectById(id, include.fields, request.context);
    if (object === undefined) return unknownObject(id);
    return spliced(writer.stored(object, include));
  }

  async function head(request: HttpRequest): Promise<HttpResponse> {
    const id = pathId(request);
    const found: StoredObject | undefined = await query.objectById(id, NO_FIELDS, request.context);
    return found === undefined ? unknownObject(id) : NO_CONTENT;
  }

  async function post(request: HttpRequest): Promise<HttpResponse> {
    const input = readBody(request);
    const written = await ingest.createObject(input, request.context);
    return { status: 200, body: `${writer.written(written, input.id || undefined, input)}\n` };
  }

  async function put(request: HttpRequest): Promise<HttpResponse> {
    const id = pathId(request);
    const input = readBody(request);
    const written = await ingest.replaceObject(id, input, request.context);
    if (!profile.putObjectAnswersObject) return NO_CONTENT;
    return { status: 200, body: `${writer.written(written, undefined, input)}\n` };
  }

  async function patch(request: HttpRequest): Promise<HttpResponse> {
    const id = pathId(request);
    await ingest.mergeObject(id, readBody(request), request.context);
    return NO_CONTENT;
  }

  async function remove(request: HttpRequest): Promise<HttpResponse> {
    const id = pathId(request);
    return (await ingest.deleteObject(id, request.context)) ? NO_CONTENT : unknownObject(id);
  }

  async function validate(request: HttpRequest): Promise<HttpResponse> {
    await ingest.validateObject(readBody(request), request.context);
    return EMPTY_OK;
  }

  const one = "/v1/objects/{id}";
  return [
    { method: "GET", path: one, body: "none", access: access.get, timeout: "request", bind: bindId, handle: get },
    { method: "HEAD", path: one, body: "none", access: access.get, timeout: "request", bind: bindId, handle: head },
    { method: "PUT", path: one, body: "json", access: access.update, timeout: "request", bind: bindAll, handle: put },
    {
      method: "PATCH",
      path: one,
      body: "json",
      access: access.update,
      timeout: "request",
      bind: bindAll,
      handle: patch,
    },
    {
      method: "DELETE",
      path: one,
      body: "none",
      access: access.delete,
      timeout: "request",
      bind: bindId,
      handle: remove,
    },
    {
      method: "POST",
      path: "/v1/objects",
      body: "json",
      access: { verb: "create", resource: "objects" },
      timeout: "request",
      bind: bindBody,
      handle: post,
    },
    {
      method: "POST",
      path: "/v1/objects/validate",
      body: "json",
      access: { verb: "validate", resource: "objects" },
      timeout: "request",
      bind: bindBody,
      handle: validate,
    },
    {
      method: "GET",
      path: "/v1/{id:uuid}",
      body: "none",
      access: access.get,
      timeout: "request",
      bind: bindId,
      handle: get,
    },
  ];
}

/** The permissions on one object. */
const access = {
  get: { verb: "get", resource: "objects/{id}" },
  update: { verb: "update", resource: "objects/{id}" },
  delete: { verb: "delete", resource: "objects/{id}" },
} as const;

const NO_FIELDS = { properties: false, vector: false, extras: false };

function readBody(request: RequestContent): ObjectInput {
  return readObjectBody(request.body);
}

function bindId(request: RequestContent): void {
  pathId(request);
}

function bindBody(request: RequestContent): void {
  parseBodyId(readBody(request).id);
}

function bindAll(request: RequestContent): void {
  bindId(request);
  bindBody(request);
}

function unknownObject(id: ObjectId): HttpResponse {
  return errorResponse(404, `no object with id '${id}'`);
}

/** A JSON answer from a string of bytes. */
function spliced(json: string): HttpResponse {
  return { status: 200, body: `${json}\n`, encoding: "latin1" };
}
