import type { RequestListener } from "node:http";
import { CONSOLE_FOLDER } from "@shoal/console";
import { type AccessControl, createPages } from "@shoal/gateway";
import type { Logger } from "@shoal/service-runtime";
import { loadSwaggerUi } from "./load-swagger-ui.js";
import { readPageFiles } from "./read-page-files.js";

/** The pages for people, read from disk once, Swagger UI when it is first asked for: the gateway has no disk. */
export async function loadPages(access: AccessControl, origin: string, logger: Logger): Promise<RequestListener> {
  const files = await readPageFiles(CONSOLE_FOLDER);
  if (files.length === 0) logger.warn({ folder: CONSOLE_FOLDER.pathname }, "the console is not built");
  return createPages({ console: { files }, docs: { load: loadSwaggerUi, origin }, access, logger });
}
