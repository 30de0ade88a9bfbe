import type { WireProfile } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import type { AccessControl, RouteAccess } from "../auth/access.js";
import type { HttpRequest } from "../http/http-request.js";
import { errorResponse, type HttpResponse, jsonResponse, notFoundResponse } from "../http/http-response.js";
import type { Method, Route } from "../http/route.js";

/** The interface version that client libraries gate on. */
export const INTERFACE_VERSION = "1.8.0";

export interface InstanceRouteParts {
  readonly origin: string;
  /** Version of this server. */
  readonly shoalVersion: string;
  /** `http://<address>:<port>` it listens on; known once it listens. */
  readonly address: () => string;
  readonly isReady: () => boolean;
  /** None when absent. */
  readonly modules?: EnabledModules;
  /** See AccessControl. */
  readonly openId?: AccessControl["openId"];
  /** See AccessControl. */
  readonly methods?: AccessControl["methods"];
}

/** Where the links of `GET /v1` find their documentation. */
const DOCS_PATH = "/v1/docs";

/** The page for people, which stands outside of the API. */
const DOCS_PAGE = "/docs";

/** Says what a client can authenticate with: the console, before it has a token or a key. */
const METHODS_HEADER = "Shoal-Authentication";

const META_PATH = "/v1/meta";

const LINKS: readonly (readonly [path: string, name: string])[] = [
  [META_PATH, "Meta information about this instance"],
  ["/v1/schema", "view complete schema"],
  ["/v1/schema{/:className}", "CRUD schema"],
  ["/v1/objects{/:id}", "CRUD objects"],
  ["/v1/classifications{/:id}", "trigger and view status of classifications"],
  ["/v1/.well-known/live", "check if the instance is live"],
  ["/v1/.well-known/ready", "check if the instance is ready"],
  [
    "/v1/.well-known/openid-configuration",
    "view link to openid configuration (returns 404 if no openid is configured)",
  ],
  ["/v1/modules/text2vec-contextionary/concepts/:concept", "view concepts of the contextionary"],
  ["/v1/modules/text2vec-contextionary/extensions", "extend the contextionary"],
];

const ANY_METHOD: readonly Method[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** What the instance says of itself (reference-rest 2.3 to 2.5), and its probes, which answer any method. */
export function instanceRoutes(
  parts: InstanceRouteParts,
  profile: Pick<WireProfile, "notFoundHasBody">,
): readonly Route[] {
  const links = jsonResponse(200, {
    links: LINKS.map(([path, name]) => {
      const link = { href: parts.origin + path, name };
      return path === META_PATH ? link : { documentationHref: parts.origin + DOCS_PATH, ...link };
    }),
  });
  const meta = async ({ context }: HttpRequest): Promise<HttpResponse> =>
    jsonResponse(200, {
      hostname: parts.address(),
      modules: (await parts.modules?.meta(context)) ?? {},
      shoalVersion: parts.shoalVersion,
      version: INTERFACE_VERSION,
    });
  const live = (): HttpResponse => ({ status: 200 });
  const ready = (): HttpResponse => (parts.isReady() ? { status: 200 } : errorResponse(503, "not ready"));
  const { methods = [] } = parts;
  const openId = (): HttpResponse => {
    const response =
      parts.openId === undefined
        ? notFoundResponse("OpenID Connect is not configured", profile)
        : jsonResponse(200, parts.openId());
    return methods.length === 0 ? response : { ...response, headers: [METHODS_HEADER, methods.join(", ")] };
  };
  const read = (path: string, access: RouteAccess, handle: Route["handle"]): Route => {
    return { method: "GET", path, body: "none", access, timeout: "request", handle };
  };
  const probe = (path: string, handle: Route["handle"]): readonly Route[] =>
    ANY_METHOD.map((method) => ({ method, path, body: "unchecked", access: "open", timeout: "request", handle }));
  return [
    read("/v1", "authenticated", () => links),
    read(META_PATH, "authenticated", meta),
    read("/v1/.well-known/openid-configuration", "anyone", openId),
    // Sends people to the page that shows the OpenAPI document. Relative: it stays on the address that a browser has come by.
    { ...read(DOCS_PATH, "open", () => ({ status: 302, headers: ["Location", DOCS_PAGE] })), body: "unchecked" },
    ...probe("/v1/.well-known/live", live),
    ...probe("/v1/.well-known/ready", ready),
  ];
}
