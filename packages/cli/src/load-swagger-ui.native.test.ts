import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { loadSwaggerUi } from "./load-swagger-ui.js";

it("finds the files of Swagger UI, and packs those that gain by it", async () => {
  const files = await loadSwaggerUi();
  expect(files.map(({ path }) => path)).toEqual(["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"]);
  for (const { path, bytes, gzip } of files) {
    expect(bytes.length, path).toBeGreaterThan(100);
    if (path.endsWith(".png")) expect(gzip).toBeUndefined();
    else expect(gunzipSync(gzip ?? "").equals(bytes), path).toBe(true);
  }
});
