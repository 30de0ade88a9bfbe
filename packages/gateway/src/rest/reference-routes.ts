import type { IngestService } from "@shoal/ingest";
import type { ObjectId, WireProfile } from "@shoal/model";
import { type HttpRequest, pathId, type RequestContent } from "../http/http-request.js";
import { EMPTY_OK, type HttpResponse, NO_CONTENT } from "../http/http-response.js";
import type { Method, Route } from "../http/route.js";
import { readReference, readReferences, readRemovedReferences } from "./reference-body.js";

/** The operations on the references of one property (reference-rest 3.7, decisions.md). */
export function referenceRoutes(
  ingest: IngestService,
  profile: Pick<WireProfile, "referenceWriteStatus">,
  referencesMax: number,
): readonly Route[] {
  const written = profile.referenceWriteStatus === 200 ? EMPTY_OK : NO_CONTENT;

  async function post(request: HttpRequest): Promise<HttpResponse> {
    const { id, property } = place(request);
    const beacon = await readReference(request.body, request.context, request.warnings);
    await ingest.addReference(id, property, beacon, request.context);
    request.context.observer?.wrote(undefined, 1, 0);
    return written;
  }

  async function put(request: HttpRequest): Promise<HttpResponse> {
    const { id, property } = place(request);
    const beacons = await readReferences(request.body, referencesMax, request.context, request.warnings);
    await ingest.replaceReferences(id, property, beacons, request.context);
    request.context.observer?.wrote(undefined, beacons.length, 0);
    return written;
  }

  async function remove(request: HttpRequest): Promise<HttpResponse> {
    const { id, property } = place(request);
    const beacons = await readRemovedReferences(request.body, referencesMax, request.context, request.warnings);
    await ingest.removeReferences(id, property, beacons, request.context);
    request.context.observer?.wrote(undefined, beacons.length, 0);
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
