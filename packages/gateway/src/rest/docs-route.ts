import type { HttpResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";

/** Where the links of `GET /v1` find their documentation. */
export const DOCS_PATH = "/v1/docs";

/** The page for people, which stands outside of the API. */
const DOCS_PAGE = "/docs";

/**
 * `GET /v1/docs`: sends people to the page that shows the OpenAPI document. Relative, so that it stays on the address
 * that a browser has come by.
 */
export const DOCS_ROUTE: Route = {
  method: "GET",
  path: DOCS_PATH,
  body: "unchecked",
  access: "open",
  timeout: "request",
  handle: (): HttpResponse => ({ status: 302, headers: ["Location", DOCS_PAGE] }),
};
