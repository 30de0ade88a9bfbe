// Bundles what tsc made of the shoal command, with all packages that it loads, into dist/bundle, and links dist/main.js to it.
//   node packages/cli/bundle.mjs            (or: import { bundleCommand } from ".../bundle.mjs")
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const packageFolder = dirname(fileURLToPath(import.meta.url));
const distFolder = join(packageFolder, "dist");
const bundleFolder = join(distFolder, "bundle");

/**
 * A module of ours finds its files (addon, protos, pages, threads, packages that stay outside) from where it stands. In the bundle
 * it is told where tsc put it: its `import.meta.url` is the same in both.
 */
const placesOfModules = {
  name: "places-of-modules",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]packages[\\/](modules[\\/])?[a-z0-9-]+[\\/]dist[\\/].*\.js$/ }, ({ path }) => {
      const place = JSON.stringify(relative(bundleFolder, path).split(sep).join("/"));
      const text = readFileSync(path, "utf8");
      return { contents: text.replaceAll("import.meta.url", `new URL(${place}, import.meta.url).href`) };
    });
  },
};

/** Makes dist/bundle and dist/main.js. What is imported dynamically is a chunk of its own, loaded when it is needed. */
export async function bundleCommand() {
  const { build } = await import("esbuild");
  rmSync(bundleFolder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: join(packageFolder, "..", ".."),
    entryPoints: [join(distFolder, "start.js")],
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
    // Packages that are CommonJS ask for the modules of Node.
    banner: {
      js: 'import { createRequire as createRequireOfNode } from "node:module"; const require = createRequireOfNode(import.meta.url);',
    },
  });
  // Which module is in which chunk, for tests and for people.
  writeFileSync(join(bundleFolder, "meta.json"), JSON.stringify(metafile));
  const main = join(distFolder, "main.js");
  rmSync(main, { force: true });
  // The package has ES modules, and its main must be none (src/main.cts).
  symlinkSync("main.cjs", main);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await bundleCommand();
