import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { CONSOLE_FOLDER } from "@shoal/console";
import type { PageFile } from "@shoal/gateway";
import type { Logger } from "@shoal/service-runtime";

const GZIP = ".gz";

/**
 * The files below a folder, each with its packed form (`<name>.gz`) when it stands beside it. None when there is no
 * such folder: the pages were not built.
 */
export async function readPageFiles(folder: URL): Promise<readonly PageFile[]> {
  const root = fileURLToPath(folder);
  const entries = await readdir(root, { withFileTypes: true, recursive: true }).catch(
    (thrown: NodeJS.ErrnoException) => {
      if (thrown.code === "ENOENT") return [];
      throw thrown;
    },
  );
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const packed = new Set(paths.filter((path) => path.endsWith(GZIP)));
  return Promise.all(
    paths
      .filter((path) => !packed.has(path))
      .map(async (path) => ({
        path: relative(root, path).split(sep).join("/"),
        bytes: await readFile(path),
        ...(packed.has(path + GZIP) ? { gzip: await readFile(path + GZIP) } : {}),
      })),
  );
}

/** The console's files, read from disk once: the gateway has no disk. */
export async function loadPages(logger: Logger): Promise<readonly PageFile[]> {
  const files = await readPageFiles(CONSOLE_FOLDER);
  if (files.length === 0) logger.warn({ folder: CONSOLE_FOLDER.pathname }, "the console is not built");
  return files;
}
