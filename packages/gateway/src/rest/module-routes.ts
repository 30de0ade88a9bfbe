import { warnOfUnknown } from "@shoal/model";
import type { EnabledModules, ModuleResponse, ModuleRoute } from "@shoal/module-api";
import { type HttpResponse, jsonResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { parseJson, refuseCostlyJson } from "../json/parse-json.js";

/** The routes of modules, below `/v1/modules/<name>/`, with authentication as all others (decisions). */
export function moduleRoutes(modules: EnabledModules): readonly Route[] {
  return modules.all.flatMap(({ name, routes = [] }) => routes.map((route) => moduleRoute(name, route)));
}

function moduleRoute(name: string, { method, path, verb, operation, handle }: ModuleRoute): Route {
  return {
    method,
    path: modulePath(name, path),
    body: operation.body === undefined ? "none" : "json",
    // What modules keep is there for all classes.
    access:
      verb === "get"
        ? { verb, resource: `modules/${name}`, action: "read_data" }
        : { verb, resource: `modules/${name}`, action: "update_data", isEverywhere: true },
    timeout: "request",
    ...(verb === "get" ? {} : { audited: { action: `${verb}_in_module`, recorded: "line" as const } }),
    handle: async ({ params, body, context, warnings }) => {
      // Modules parse their bodies in one go.
      if (operation.body !== undefined) refuseCostlyJson(body);
      const result = await handle({ params, body, context });
      // What is no JSON has been refused.
      if (operation.body !== undefined && body.length > 0)
        warnOfUnknown(operation.body.schema, parseJson(body), warnings);
      return response(result);
    },
  };
}

function response({ status, json, text }: ModuleResponse): HttpResponse {
  if (json !== undefined) return jsonResponse(status, json);
  return text === undefined ? { status } : { status, body: text, contentType: "text/plain; charset=utf-8" };
}

/** Where a route of a module is; `path` has no slash in front. */
export function modulePath(name: string, path: string): string {
  return `/v1/modules/${name}/${path}`;
}
