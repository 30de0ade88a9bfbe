import type { HttpResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";

/** Where the links of `GET /v1` find their documentation. */
export const DOCS_PATH = "/v1/docs";

/** `GET /v1/docs`: the operations that there are, as text for people, whatever a browser accepts. */
export function docsRoute(operations: readonly Route[]): Route {
  const methods = new Map<string, string[]>();
  for (const { method, path } of operations) methods.set(path, [...(methods.get(path) ?? []), method]);
  const lines = [...methods].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, verbs]) => `${path}  ${verbs.join(" ")}`);
  const body = `Shoal: a sharded vector database, with the REST and GraphQL interface of Weaviate 1.8.\n\n${lines.join("\n")}\n`;
  const page: HttpResponse = { status: 200, body, contentType: "text/plain; charset=utf-8" };
  return { method: "GET", path: DOCS_PATH, body: "unchecked", access: "open", timeout: "request", handle: () => page };
}
