import { type Request, type Response, Router } from "express";
import { errorResponse, type HttpResponse } from "../http/http-response.js";
import { hasBody } from "../http/incoming-body.js";
import { unmatched } from "../http/refusals.js";
import { discardRest, sendResponse } from "../http/send-response.js";
import { type PageFile, type ServedFile, servedFile } from "./page-file.js";

export interface PageFolder {
  /** Path it stands under, e.g. `/console`; with and without a slash at its end it answers `index.html`. */
  readonly prefix: string;
  readonly files: readonly PageFile[];
  /** Paths of files whose names hold a hash of their content: they are kept by browsers for ever. */
  readonly isImmutable: (path: string) => boolean;
  /** The Content-Security-Policy of its responses, as of now. */
  readonly contentSecurityPolicy: () => string;
}

const IMMUTABLE = "public, max-age=31536000, immutable";
/** Kept, but asked for again each time: an ETag makes that cheap. */
const REVALIDATED = "no-cache";
const ALLOWED = ["GET", "HEAD"];

/**
 * Answers everything below the prefix from memory, and nothing else. Names are compared as they came over the wire:
 * no path is ever built from one.
 */
export function servePageFolder(folder: PageFolder): Router {
  const served = new Map<string, ServedFile>();
  for (const file of folder.files) {
    served.set(`${folder.prefix}/${file.path}`, servedFile(file, folder.isImmutable(file.path)));
  }
  const index = served.get(`${folder.prefix}/index.html`);
  if (index !== undefined) served.set(folder.prefix, index).set(`${folder.prefix}/`, index);

  const router = Router({ caseSensitive: true });
  router.use((request, response, next) => {
    const file = served.get(request.path);
    if (file === undefined) return next();
    if (!ALLOWED.includes(request.method)) {
      return sendPage(request, response, unmatched(request.method, request.path, ALLOWED));
    }
    response.setHeader("Content-Security-Policy", folder.contentSecurityPolicy());
    sendFile(request, response, file);
  });
  return router;
}

function sendFile(request: Request, response: Response, file: ServedFile): void {
  const isGzip = file.gzip !== undefined && request.acceptsEncodings("gzip", "identity") === "gzip";
  const { bytes, etag } = isGzip && file.gzip !== undefined ? file.gzip : file;
  response.setHeader("ETag", etag);
  const headers = ["Cache-Control", file.isImmutable ? IMMUTABLE : REVALIDATED, "Vary", "Accept-Encoding"];
  // `fresh` compares the ETag that was just set with If-None-Match.
  if (request.fresh) {
    sendPage(request, response, { status: 304, headers });
    return;
  }
  if (isGzip) headers.push("Content-Encoding", "gzip");
  sendPage(request, response, { status: 200, body: bytes, contentType: file.contentType, headers });
}

/** For a folder that has nothing in it, e.g. because it was not built: says why. */
export function missingPage(prefix: string, reason: string): Router {
  const router = Router({ caseSensitive: true });
  router.use((request, response, next) => {
    if (request.path !== prefix && request.path !== `${prefix}/`) return next();
    sendPage(request, response, errorResponse(404, reason));
  });
  return router;
}

/** Sends a response of the gateway's own shape. No page reads a body: a client that sends one still gets to its end. */
export function sendPage(request: Request, response: Response, result: HttpResponse): void {
  const isUnread = !request.complete && hasBody(request);
  const isAsking = isUnread && request.headers.expect !== undefined;
  sendResponse(response, result, isAsking || !response.shouldKeepAlive);
  if (isUnread && !isAsking) discardRest(request);
}

/**
 * The Content-Security-Policy of a page: everything comes from the gateway itself, nothing inline runs, nobody may frame
 * it. `data:` images are the icons in style sheets. `connectTo` are the origins that it may talk to besides.
 */
export function pagePolicy(connectTo: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...connectTo].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
