import { isDeepStrictEqual } from "node:util";
import { type SchemaView, unknownWhetherThere } from "@shoal/cluster";
import {
  CLASS_BODY,
  CLIENT_PHRASES,
  type ClassDefinition,
  type ClassSettings,
  decodeBody,
  type IsShown,
  isClassName,
  normaliseClassName,
  PROPERTY_BODY,
  parseClass,
  parseProperty,
  ShoalError,
  shownClass,
  shownProperty,
  updateClass,
  type WireProfile,
} from "@shoal/model";
import type { ClassRecord, SchemaService } from "@shoal/rpc";
import type { HttpRequest, RequestContent } from "../http/http-request.js";
import { EMPTY_OK, errorResponse, type HttpResponse, jsonResponse, notFoundResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { parseSmallJson } from "./small-body.js";

/** Reading and changing classes (reference-rest 4). `classSettings` is asked again for each class. */
export function schemaRoutes(
  schema: SchemaService,
  view: SchemaView,
  classSettings: () => ClassSettings,
  profile: WireProfile,
): readonly Route[] {
  const definitions = (): ClassDefinition[] => view.snapshot.classes.map(({ definition }) => definition);

  const notFound = (className: string) => notFoundResponse(unknownClass(className), profile);
  const shown = (record: ClassRecord) => jsonResponse(200, shownClass(record.definition, profile));

  async function list({ context }: HttpRequest): Promise<HttpResponse> {
    await view.refresh(context);
    const isShown = shownTo(context);
    const seen = definitions().filter((definition) => isShown(definition.class));
    return jsonResponse(200, { classes: seen.map((definition) => shownClass(definition, profile)) });
  }

  async function get(request: HttpRequest): Promise<HttpResponse> {
    const [className = ""] = request.params;
    request.context.rights?.require("read_collections", className);
    await view.refresh(request.context);
    const record = view.classRecord(className);
    if (record === undefined && view.isLost) throw unknownWhetherThere(className);
    return record === undefined ? notFound(className) : shown(record);
  }

  /** Made for the schema that is known: when a class of that name was deleted since, it is looked at again. */
  async function create(request: HttpRequest): Promise<HttpResponse> {
    const { context, warnings } = request;
    requireNewClass(context, request);
    return planned(context, async () => {
      // Fails when the schema as it is now cannot be known: an old one would refuse what is allowed, and the reverse.
      const { version } = await schema.current(context);
      const settings = classSettings();
      const definition = parseClass(readBody(request), definitions(), settings, warnings, shownTo(context));
      context.observer?.concerns("class", definition.class);
      if (definition.vectorizer !== "none") await settings.modules.check(definition);
      return shown(await schema.addClass(definition, context, { plannedVersion: version }));
    });
  }

  async function update(request: HttpRequest): Promise<HttpResponse> {
    const { context, params, warnings } = request;
    const [className = ""] = params;
    context.rights?.require("update_collections", className);
    const body = readBody(request);
    if (context.rights !== undefined) {
      requireReferences(context, className, decodeBody(CLASS_BODY, body).properties);
    }
    return planned(context, async () => {
      const { version, classes } = await schema.current(context);
      const record = classes.find(({ definition }) => definition.class === className);
      if (record === undefined) {
        decodeBody(CLASS_BODY, body);
        return notFound(className);
      }
      const definition = updateClass(body, record.definition, classSettings(), warnings);
      const isSame = isDeepStrictEqual(definition, record.definition);
      return shown(isSame ? record : await schema.updateClass(definition, version, context));
    });
  }

  /** Means the class that is there when it is asked for: when that was made again meanwhile, it is looked up again. */
  async function remove(request: HttpRequest): Promise<HttpResponse> {
    const { context, params } = request;
    const [className = ""] = params;
    context.rights?.require("delete_collections", className);
    return planned(context, async () => {
      const { classes } = await schema.current(context);
      const classId = classes.find(({ definition }) => definition.class === className)?.classId;
      try {
        await schema.deleteClass({ className, classId }, context);
        return EMPTY_OK;
      } catch (thrown) {
        if (!(thrown instanceof ShoalError) || thrown.code !== "notFound") throw thrown;
        return errorResponse(400, unknownClass(className));
      }
    });
  }

  async function addProperty(request: HttpRequest): Promise<HttpResponse> {
    const [className = ""] = request.params;
    request.context.rights?.require("update_collections", className);
    if (request.context.rights !== undefined) {
      requireReferences(request.context, className, [decodeBody(PROPERTY_BODY, readBody(request))]);
    }
    await schema.current(request.context);
    const { modules } = classSettings();
    const isShown = shownTo(request.context);
    const property = parseProperty(readBody(request), className, definitions(), modules, request.warnings, isShown);
    request.context.observer?.concerns("property", property.name);
    const record = await schema.addProperty(className, property, request.context).catch((thrown: unknown) => {
      // The class was deleted in the meantime: as if it had never been there.
      if (!(thrown instanceof ShoalError) || thrown.code !== "notFound") throw thrown;
      throw new ShoalError("invalid", thrown.message, { cause: thrown });
    });
    const stored = record.definition.properties?.find(({ name }) => name === property.name);
    return jsonResponse(200, shownProperty(stored ?? property));
  }

  const one = "/v1/schema/{class}";
  return [
    { method: "GET", path: "/v1/schema", ...READING, handle: list },
    { method: "POST", path: "/v1/schema", ...changing("create", "create_class"), handle: create },
    { method: "GET", path: one, ...READING, handle: get },
    { method: "PUT", path: one, ...changing("update", "update_class"), handle: update },
    { method: "DELETE", path: one, ...changing("delete", "delete_class"), body: "none", handle: remove },
    { method: "POST", path: `${one}/properties`, ...changing("update", "add_property"), handle: addProperty },
  ];
}

/** A change that is planned for the schema as it is; again when somebody else was faster. */
async function planned(
  { signal }: HttpRequest["context"],
  attempt: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  for (;;) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!(thrown instanceof ShoalError) || thrown.code !== "conflict") throw thrown;
      signal?.throwIfAborted();
    }
  }
}

const READING = {
  body: "none",
  access: { verb: "list", resource: "schema/*", action: "read_collections" },
  timeout: "request",
} as const;

function changing(verb: "create" | "update" | "delete", name: string) {
  const access = { verb, resource: "schema/objects", action: `${verb}_collections` as const };
  return { body: "json", access, audited: { action: name, recorded: "line" }, timeout: "request" } as const;
}

/** Room for 2,000 properties with 500 bytes each. The exact parser takes 70 ms for it, with nothing else in between. */
const SCHEMA_BODY_BYTES_MAX = 1024 * 1024;

/** Bodies of schema changes are small and rare: their numbers always keep their literals. */
function readBody(request: RequestContent): unknown {
  return parseSmallJson(request, SCHEMA_BODY_BYTES_MAX, "a class", "all");
}

/** Fails with `forbidden` before anything is revealed about other classes. */
function requireNewClass(context: HttpRequest["context"], request: RequestContent): void {
  const { rights } = context;
  if (rights === undefined) return;
  const { class: className, properties } = decodeBody(CLASS_BODY, readBody(request));
  if (className === undefined) return;
  rights.require("create_collections", className);
  requireReferences(context, className, properties);
}

/** What a property may refer to, the client must be allowed to know: else it could be asked for one name after the other. */
function requireReferences(
  { rights }: HttpRequest["context"],
  ownClass: string,
  properties: readonly { readonly dataType?: readonly string[] | undefined }[] = [],
): void {
  if (rights === undefined) return;
  for (const name of properties.flatMap(({ dataType = [] }) => dataType)) {
    if (isClassName(name) && name !== normaliseClassName(ownClass)) rights.require("read_collections", name);
  }
}

/** Errors name no class that a list of classes would leave out. */
function shownTo({ rights }: HttpRequest["context"]): IsShown {
  return (className) => rights?.may("read_collections", className) !== false;
}

function unknownClass(className: string): string {
  return CLIENT_PHRASES.classNotFound(className);
}
