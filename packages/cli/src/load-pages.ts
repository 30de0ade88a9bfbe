import { CONSOLE_FOLDER } from "@shoal/console";
import type { PageFile } from "@shoal/gateway";
import type { Logger } from "@shoal/service-runtime";
import { readPageFiles } from "./read-page-files.js";

/** The console's files, read from disk once: the gateway has no disk. */
export async function loadPages(logger: Logger): Promise<readonly PageFile[]> {
  const files = await readPageFiles(CONSOLE_FOLDER);
  if (files.length === 0) logger.warn({ folder: CONSOLE_FOLDER.pathname }, "the console is not built");
  return files;
}
