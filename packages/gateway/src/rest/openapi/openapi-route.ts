import type { WireProfile } from "@shoal/model";
import { type EnabledModules, NO_ENABLED_MODULES } from "@shoal/module-api";
import type { HttpResponse } from "../../http/http-response.js";
import type { Route } from "../../http/route.js";
import { modulePath } from "../module-routes.js";
import { accessOperations } from "./access-operations.js";
import { classificationOperations } from "./classification-operations.js";
import { type DocumentParts, openApiDocument } from "./document.js";
import { GRAPHQL_OPERATIONS } from "./graphql-operations.js";
import { instanceOperations } from "./instance-operations.js";
import { objectOperations } from "./object-operations.js";
import type { Operation } from "./operation.js";
import { referenceOperations } from "./reference-operations.js";
import { schemaOperations } from "./schema-operations.js";

/** Where the OpenAPI document is. */
export const OPENAPI_PATH = "/v1/openapi.json";

/** What the document says of each route. A new route needs an operation here. */
export function describedOperations(
  profile: WireProfile,
  modules: EnabledModules = NO_ENABLED_MODULES,
): readonly Operation[] {
  return [
    ...objectOperations(profile, modules),
    ...referenceOperations(profile),
    ...schemaOperations(profile),
    ...classificationOperations(profile),
    ...GRAPHQL_OPERATIONS,
    ...instanceOperations(profile),
    ...moduleOperations(modules),
    ...accessOperations(),
  ];
}

/** `GET /v1/openapi.json`: the document of `routes` and of itself, made once, when it is asked for first. */
export function openApiRoute(routes: readonly Route[], operations: readonly Operation[], parts: DocumentParts): Route {
  let response: HttpResponse | undefined;
  const route: Route = {
    method: "GET",
    path: OPENAPI_PATH,
    body: "unchecked",
    access: "open",
    timeout: "request",
    handle: () => {
      response ??= responseOf(openApiDocument([...routes, route], operations, parts));
      return response;
    },
  };
  return route;
}

function responseOf(document: object): HttpResponse {
  const body = Buffer.from(`${JSON.stringify(document)}\n`);
  return { status: 200, body, headers: ["Cache-Control", "public, max-age=300"] };
}

/** The routes of modules, as they describe them. */
function moduleOperations(modules: EnabledModules): readonly Operation[] {
  return modules.all.flatMap(({ name, routes = [] }) =>
    routes.map(
      ({ method, path, operation }): Operation => ({
        method,
        path: modulePath(name, path),
        tag: "modules",
        ...operation,
      }),
    ),
  );
}
