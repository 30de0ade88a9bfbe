import type { RequestListener } from "node:http";
import { CONSOLE_FOLDER } from "@shoal/console";
import { type AccessControl, createPages } from "@shoal/gateway";
import type { Logger } from "@shoal/service-runtime";
import { readPageFiles } from "./read-page-files.js";

/** The pages for people, read from disk once: the gateway has none. */
export async function loadPages(access: AccessControl, logger: Logger): Promise<RequestListener> {
  const files = await readPageFiles(CONSOLE_FOLDER);
  if (files.length === 0) logger.warn({ folder: CONSOLE_FOLDER.pathname }, "the console is not built");
  return createPages({ console: { files }, access, logger });
}
