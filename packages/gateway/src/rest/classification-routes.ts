import { type ClassificationService, readClassificationBody } from "@shoal/classification";
import { ShoalError, type WireProfile } from "@shoal/model";
import type { HttpRequest } from "../http/http-request.js";
import { errorResponse, type HttpResponse, jsonResponse, notFoundResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { parseSmallJson } from "./small-body.js";

/** The specification's headings have the second one (decisions). */
export const CLASSIFICATION_PATHS = ["/v1/classifications", "/v1/classification"] as const;

/** Room for a filter of 1,000 clauses. Coordinators keep a thousand requests. */
const BODY_BYTES_MAX = 64 * 1024;

/** Starting classifications and looking at them (reference-rest 10). */
export function classificationRoutes(
  classifications: ClassificationService,
  profile: Pick<WireProfile, "notFoundHasBody">,
): readonly Route[] {
  async function start(request: HttpRequest): Promise<HttpResponse> {
    const body = parseSmallJson(request, BODY_BYTES_MAX, "a classification");
    // Its form first: what is wrong with that is 422.
    readClassificationBody(body, request.warnings);
    try {
      const started = await classifications.start(body, request.context, request.warnings);
      request.context.observer?.concerns("class", started.class);
      request.context.observer?.concerns("id", started.id);
      return jsonResponse(201, started);
    } catch (thrown) {
      // Whatever is wrong with a request is 400 here (reference-rest 10.1).
      if (thrown instanceof ShoalError && thrown.code === "invalid") return errorResponse(400, thrown.message);
      throw thrown;
    }
  }

  async function get({ params, context }: HttpRequest): Promise<HttpResponse> {
    const id = params[0] ?? "";
    const record = await classifications.find(id, context);
    if (record === undefined) return notFoundResponse(`no classification with id '${id}'`, profile);
    return jsonResponse(200, record);
  }

  return CLASSIFICATION_PATHS.flatMap((path): readonly Route[] => [
    { method: "POST", path, body: "json", ...access("create"), ...STARTED, handle: start },
    { method: "GET", path: `${path}/{classification}`, body: "none", ...access("get"), handle: get },
  ]);
}

const STARTED = { audited: { action: "start_classification", recorded: "line" } } as const;

function access(verb: "create" | "get") {
  const action = verb === "create" ? "update_data" : "read_data";
  return { access: { verb, resource: "classifications/*", action }, timeout: "request" } as const;
}
