// Bundles the console into dist/page (hashed names, each file also packed with gzip), and does nothing when nothing changed.
//   node packages/console/build.mjs            (or: import { buildConsole } from ".../build.mjs")
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const packageFolder = dirname(fileURLToPath(import.meta.url));
const pageFolder = join(packageFolder, "dist", "page");
const stampFile = join(packageFolder, "dist", "page.stamp");
const lockFile = join(packageFolder, "..", "..", "pnpm-lock.yaml");

/** Below this packing saves nothing worth a second answer. */
const GZIP_BYTES_MIN = 1024;

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
}

/** Everything that decides what the page looks like: its sources, and the versions of what it is made with. */
function fingerprint() {
  const sources = ["src", "public"].flatMap((folder) => filesBelow(join(packageFolder, folder)));
  const own = ["build.mjs", "index.html", "package.json"].map((name) => join(packageFolder, name));
  const hash = createHash("sha256");
  for (const path of [...own, lockFile, ...sources]) {
    if (/\.test\.ts$/.test(path)) continue;
    hash.update(`${relative(packageFolder, path)}\n`).update(readFileSync(path));
  }
  return hash.digest("hex");
}

/** Builds dist/page; true when there was something to do. */
export async function buildConsole() {
  const wanted = fingerprint();
  if (existsSync(join(pageFolder, "index.html")) && existsSync(stampFile)) {
    if (readFileSync(stampFile, "utf8") === wanted) return false;
  }
  rmSync(stampFile, { force: true });
  const { build } = await import("vite");
  await build({
    root: packageFolder,
    configFile: false,
    base: "/console/",
    logLevel: "warn",
    esbuild: { jsx: "automatic", jsxImportSource: "preact" },
    // One copy each: two of them do not recognise each other's values.
    resolve: { dedupe: ["graphql", "@codemirror/state", "@codemirror/view", "@codemirror/language"] },
    build: {
      outDir: pageFolder,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 1_500,
      modulePreload: { polyfill: false },
      target: "es2022",
    },
  });
  for (const path of filesBelow(pageFolder)) {
    const bytes = readFileSync(path);
    if (bytes.length >= GZIP_BYTES_MIN) writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
  writeFileSync(stampFile, wanted);
  return true;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await buildConsole();
