import { type RequestHandler, Router } from "express";
import { OPENAPI_PATH } from "../rest/openapi/openapi-route.js";
import type { PageFile } from "./page-file.js";
import { pagePolicy, servePageFolder } from "./page-folder.js";

export interface DocsPageParts {
  /** Reads the files of Swagger UI: `swagger-ui.css`, `swagger-ui-bundle.js`, `favicon-32x32.png`. */
  readonly load: () => Promise<readonly PageFile[]>;
  /** Where requests go that are tried out, when that is not where the page came from; else empty. */
  readonly origin: string;
}

const PREFIX = "/docs";

const INDEX = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Shoal: REST API</title>
<link rel="icon" type="image/png" href="${PREFIX}/favicon-32x32.png">
<link rel="stylesheet" href="${PREFIX}/swagger-ui.css">
<link rel="stylesheet" href="${PREFIX}/docs.css">
<script defer src="${PREFIX}/swagger-ui-bundle.js"></script>
<script defer src="${PREFIX}/docs.js"></script>
</head>
<body>
<noscript>The page needs JavaScript; the document is at <a href="${OPENAPI_PATH}">${OPENAPI_PATH}</a>.</noscript>
<main id="docs"></main>
</body>
</html>
`;

/** Nothing is asked of anybody else: no validator, no fonts, no document from the query string. */
const SCRIPT = `"use strict";
window.SwaggerUIBundle({
  url: ${JSON.stringify(OPENAPI_PATH)},
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
});
`;

const STYLE = `body { margin: 0; }
.swagger-ui .info { margin: 24px 0; }
@media (max-width: 600px) {
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui table.responses-table, .swagger-ui .parameters-container { overflow-x: auto; display: block; }
}
`;

/**
 * `/docs`: Swagger UI with the OpenAPI document of this gateway. Its two megabytes are loaded when somebody comes for the
 * first time, and then stay.
 */
export function docsPage({ load, origin }: DocsPageParts): Router {
  const policy = pagePolicy(URL.canParse(origin) ? [new URL(origin).origin] : []);
  let loaded: Promise<RequestHandler> | undefined;
  const router = Router({ caseSensitive: true });
  router.use((request, response, next) => {
    if (request.path !== PREFIX && !request.path.startsWith(`${PREFIX}/`)) return next();
    loaded ??= load().then(
      (files) =>
        servePageFolder({
          prefix: PREFIX,
          files: [...files, ...OWN_FILES],
          isImmutable: () => false,
          contentSecurityPolicy: () => policy,
        }),
      (error: unknown) => {
        loaded = undefined;
        throw error;
      },
    );
    loaded.then((page) => page(request, response, next), next);
  });
  return router;
}

const OWN_FILES: readonly PageFile[] = [
  { path: "index.html", bytes: Buffer.from(INDEX) },
  { path: "docs.js", bytes: Buffer.from(SCRIPT) },
  { path: "docs.css", bytes: Buffer.from(STYLE) },
];
