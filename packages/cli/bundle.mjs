// Bundles what tsc made of the shoal command, with all packages that it loads, into dist/bundle, and links dist/main.js to it.
//   node packages/cli/bundle.mjs            (or: import { bundleCommand } from ".../bundle.mjs")
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const packageFolder = dirname(fileURLToPath(import.meta.url));
const distFolder = join(packageFolder, "dist");
const bundleFolder = join(distFolder, "bundle");
/** Which module is in which chunk, for tests and for people. */
const metaFile = join(bundleFolder, "meta.json");
const ENTRY = "start.js";
/** How long what a bundle no longer has is kept for processes that began with it. */
const CHUNK_KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * A module finds its files (addon, the proto of contextionaries, pages, threads, packages that stay outside) from where it stands. In the bundle it gets
 * where that is: `import.meta.url` and `__dirname` are the same in both.
 */
const placesOfModules = {
  name: "places-of-modules",
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!/\bimport\.meta\.url\b|\b__dirname\b/.test(text)) return undefined;
      const place = (of) => JSON.stringify(relative(bundleFolder, of).split(sep).join("/"));
      const contents = text
        .replace(/\bimport\.meta\.url\b/g, `new URL(${place(path)}, import.meta.url).href`)
        .replace(/\b__dirname\b/g, `folderOfBundled(${place(dirname(path))})`);
      return { contents };
    });
  },
};

/** What CommonJS modules have and chunks, which are ES modules, have not. */
const BANNER = `
import { createRequire as requireOfBundled } from "node:module";
import { fileURLToPath as pathOfBundled } from "node:url";
const require = requireOfBundled(import.meta.url);
const folderOfBundled = (place) => pathOfBundled(new URL(place, import.meta.url));
`;

/** Makes dist/bundle and dist/main.js. What is imported dynamically is a chunk of its own, loaded when it is needed. */
export async function bundleCommand() {
  const { build } = await import("esbuild");
  const { metafile, outputFiles } = await build({
    write: false,
    absWorkingDir: join(packageFolder, "..", ".."),
    entryPoints: [join(distFolder, ENTRY)],
    outdir: bundleFolder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "linked",
    sourcesContent: false,
    metafile: true,
    legalComments: "linked",
    logLevel: "warning",
    plugins: [placesOfModules],
    banner: { js: BANNER },
  });
  mkdirSync(bundleFolder, { recursive: true });
  // A process that runs, or starts now, finds what it loads: names of chunks tell their content, and those of bundles before stay a day.
  const before = existsSync(metaFile) ? chunksOf(JSON.parse(readFileSync(metaFile, "utf8"))) : [];
  const now = new Date();
  for (const path of before.map((name) => join(bundleFolder, name))) if (existsSync(path)) utimesSync(path, now, now);
  const last = ({ path }) => Number(basename(path) === ENTRY);
  for (const { path, contents } of outputFiles.sort((a, b) => last(a) - last(b))) put(path, contents);
  put(metaFile, JSON.stringify(metafile));
  const kept = new Set([...chunksOf(metafile), basename(metaFile)]);
  for (const name of readdirSync(bundleFolder)) {
    const path = join(bundleFolder, name);
    if (!kept.has(name) && now - statSync(path).mtimeMs > CHUNK_KEPT_MS) rmSync(path);
  }
  const main = join(distFolder, "main.js");
  // The package has ES modules, and its main must be none (src/main.cts).
  symlinkSync("main.cjs", `${main}.new`);
  renameSync(`${main}.new`, main);
}

function chunksOf({ outputs }) {
  return Object.keys(outputs).map((path) => basename(path));
}

function put(path, contents) {
  writeFileSync(`${path}.new`, contents);
  renameSync(`${path}.new`, path);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await bundleCommand();
