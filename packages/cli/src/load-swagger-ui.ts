import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { PageFile } from "@shoal/gateway";

const FILES = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];

/** The files of Swagger UI that the page at `/docs` is made of, packed here because the package has them unpacked only. */
export function loadSwaggerUi(): Promise<readonly PageFile[]> {
  const folder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  return Promise.all(
    FILES.map(async (path) => {
      const bytes = await readFile(join(folder, path));
      return path.endsWith(".png") ? { path, bytes } : { path, bytes, gzip: await promisify(gzip)(bytes) };
    }),
  );
}
