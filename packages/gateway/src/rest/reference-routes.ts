import type { IngestService } from "@shoal/ingest";
import type { ObjectId, WireProfile } from "@shoal/model";
import type { HttpRequest, RequestContent } from "../http/http-request.js";
import { EMPTY_OK, type HttpResponse, NO_CONTENT } from "../http/http-response.js";
import { LONG_BODY_BYTES } from "../http/read-body.js";
import type { Method, Route } from "../http/route.js";
import { pathId } from "./path-id.js";
import {
  readLongReference,
  readLongReferences,
  readLongRemovedReferences,
  readReference,
  readReferences,
  readRemovedReferences,
} from "./reference-body.js";

/** The operations on the references of one property (reference-rest 3.7, decisions.md). */
export function referenceRoutes(
  ingest: IngestService,
  profile: Pick<WireProfile, "referenceWriteStatus">,
  referencesMax: number,
): readonly Route[] {
  const written = profile.referenceWriteStatus === 200 ? EMPTY_OK : NO_CONTENT;

  const added = ({ body, context, warnings }: HttpRequest) =>
    body.length > LONG_BODY_BYTES ? readLongReference(body, context, warnings) : readReference(body, warnings);
  const listed = ({ body, context, warnings }: HttpRequest) =>
    body.length > LONG_BODY_BYTES
      ? readLongReferences(body, referencesMax, context, warnings)
      : readReferences(body, referencesMax, warnings);
  const removed = ({ body, context, warnings }: HttpRequest) =>
    body.length > LONG_BODY_BYTES
      ? readLongRemovedReferences(body, referencesMax, context, warnings)
      : readRemovedReferences(body, referencesMax, warnings);

  async function post(request: HttpRequest): Promise<HttpResponse> {
    const { id, property } = place(request);
    await ingest.addReference(id, property, await added(request), request.context);
    request.context.witness?.wrote(undefined, 1, 0);
    return written;
  }

  async function put(request: HttpRequest): Promise<HttpResponse> {
    const { id, property } = place(request);
    const beacons = await listed(request);
    await ingest.replaceReferences(id, property, beacons, request.context);
    request.context.witness?.wrote(undefined, beacons.length, 0);
    return written;
  }

  async function remove(request: HttpRequest): Promise<HttpResponse> {
    const { id, property } = place(request);
    const beacons = await removed(request);
    await ingest.removeReferences(id, property, beacons, request.context);
    request.context.witness?.wrote(undefined, beacons.length, 0);
    return NO_CONTENT;
  }

  const route = (method: Method, action: string, handle: Route["handle"]): Route => ({
    method,
    path: "/v1/objects/{id}/references/{property}",
    body: "json",
    access: { verb: "update", resource: "objects/{id}", action: "update_data" },
    audited: { action, recorded: "count" },
    timeout: "request",
    handle,
  });
  return [
    route("POST", "add_reference", post),
    route("PUT", "replace_references", put),
    route("DELETE", "remove_references", remove),
  ];
}

/** The path's object and property. Fails with `invalid` when the id is none. */
function place(request: RequestContent): { readonly id: ObjectId; readonly property: string } {
  return { id: pathId(request), property: request.params[1] ?? "" };
}
