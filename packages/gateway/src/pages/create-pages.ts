import type { RequestListener } from "node:http";
import type { Logger } from "@shoal/service-runtime";
import express, { type NextFunction, type Request, type Response } from "express";
import type { AccessControl } from "../auth/access.js";
import { errorResponse } from "../http/http-response.js";
import { unmatched } from "../http/refusals.js";
import { type ConsolePageParts, consolePage } from "./console-page.js";
import { type DocsPageParts, docsPage } from "./docs-page.js";
import { sendPage } from "./page-folder.js";

export interface PagesParts {
  readonly console: ConsolePageParts;
  readonly docs: DocsPageParts;
  /** Says where people sign in. */
  readonly access: AccessControl;
  readonly logger: Logger;
}

/**
 * The pages for people, for the gateway's `fallback` door. A page is a file here that makes a Router, and one line
 * below. Pages are answered from memory; the headers that all of them have are set here.
 */
export function createPages({ console, docs, access, logger }: PagesParts): RequestListener {
  const pages = express();
  pages.disable("x-powered-by");
  pages.set("etag", false);
  pages.use((_request, response, next) => {
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Referrer-Policy", "no-referrer");
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    next();
  });
  pages.use(consolePage(console, access));
  pages.use(docsPage(docs));
  pages.use((request, response) => {
    sendPage(request, response, unmatched(request.method, request.path, undefined));
  });
  // Express tells an error handler by its four parameters.
  pages.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    logger.error({ error, path: request.path }, "a page failed");
    sendPage(request, response, errorResponse(500, "internal server error"));
  });
  return pages;
}
