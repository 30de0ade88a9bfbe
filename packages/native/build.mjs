// Compiles cpp/*.cc to build/shoal.node with the machine's own C++ compiler, and does nothing when nothing changed.
//   node packages/native/build.mjs            (or: import { buildAddon } from ".../build.mjs")
// CXX names the compiler (default: the first of c++, g++, clang++). CXXFLAGS is appended. SHOAL_ADDON_ARCH cross-compiles.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const packageFolder = dirname(fileURLToPath(import.meta.url));
const sourceFolder = join(packageFolder, "cpp");
const require = createRequire(import.meta.url);

/** Node 20 is the oldest we run on; 9 is the newest Node-API that all of its releases since 20.3 have. */
const NODE_API_VERSION = 9;

class BuildError extends Error {}

const NO_COMPILER = `shoal: no C++ compiler found (looked for $CXX, c++, g++, clang++).
Install one and try again:
  Debian, Ubuntu   apt-get install g++
  Fedora, RHEL     dnf install gcc-c++
  Alpine           apk add g++
  macOS            xcode-select --install`;

function onPath(name) {
  if (name.includes("/")) return isFile(name) ? name : undefined;
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const candidate = join(folder, name);
    if (folder !== "" && isFile(candidate)) return candidate;
  }
  return undefined;
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** The compiler and the words that stand in front of its arguments (`CXX="ccache g++"`). */
function findCompiler() {
  const wanted = process.env.CXX?.trim();
  if (wanted) {
    const [command, ...leading] = wanted.split(/\s+/);
    const path = onPath(command);
    if (path === undefined) throw new BuildError(`shoal: CXX is '${wanted}', but '${command}' was not found.`);
    return { path, leading };
  }
  for (const name of ["c++", "g++", "clang++"]) {
    const path = onPath(name);
    if (path !== undefined) return { path, leading: [] };
  }
  throw new BuildError(NO_COMPILER);
}

/** The folder of a package, found as Node finds it; not by `require.resolve`, which `exports` maps keep from headers. */
function packageRoot(name) {
  for (const folder of require.resolve.paths(name) ?? []) {
    const candidate = join(folder, name);
    if (isFile(join(candidate, "package.json"))) return realpathSync(candidate);
  }
  throw new BuildError(
    `shoal: the package '${name}' is not installed; install the dependencies first (npm start does).`,
  );
}

function includeFolders() {
  return [join(packageRoot("node-api-headers"), "include"), join(packageRoot("xxhash-addon"), "xxHash")];
}

/**
 * No -march: the result must run on any machine of the architecture; kernels for newer instructions are compiled by
 * function attributes and chosen at run time.
 */
function flags(platform) {
  const compile = [
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-math-errno",
    "-pthread",
    "-Wall",
    "-Wextra",
    `-DNAPI_VERSION=${NODE_API_VERSION}`,
    "-DBUILDING_NODE_EXTENSION",
    ...(process.env.CXXFLAGS?.trim().split(/\s+/).filter(Boolean) ?? []),
  ];
  const link =
    platform === "darwin"
      ? ["-bundle", "-undefined", "dynamic_lookup", "-pthread"]
      : ["-shared", "-pthread", "-static-libstdc++", "-static-libgcc", "-Wl,--gc-sections", "-Wl,-z,nodelete"];
  const extra =
    process.env.CXXFLAGS?.trim()
      .split(/\s+/)
      .filter((flag) => flag.startsWith("-fsanitize")) ?? [];
  return { compile, link: [...link, ...extra] };
}

function versionOf(compiler) {
  // The file's size and time stand for `--version`: asking the compiler costs more than all the rest of a second run.
  const { size, mtimeMs } = statSync(compiler.path);
  return [compiler.path, ...compiler.leading, size, mtimeMs].join(" ");
}

function stampOf(compiler, folders, { compile, link }, target) {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([versionOf(compiler), folders, compile, link, target]));
  for (const name of readdirSync(sourceFolder).sort()) {
    hash.update(`\0${name}\0`).update(readFileSync(join(sourceFolder, name)));
  }
  for (const name of ["node-api-headers", "xxhash-addon"]) {
    hash.update(readFileSync(join(packageRoot(name), "package.json")));
  }
  return hash.digest("hex");
}

function run(compiler, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(compiler.path, [...compiler.leading, ...args], { stdio: ["ignore", "inherit", "inherit"] });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new BuildError(`shoal: the addon does not compile (exit code ${code}).`)),
    );
  });
}

async function compileAll(compiler, sources, objectOf, args) {
  const waiting = [...sources];
  let failure;
  const worker = async () => {
    for (let source = waiting.shift(); source !== undefined && failure === undefined; source = waiting.shift()) {
      await run(compiler, [...args, "-c", join(sourceFolder, source), "-o", objectOf(source)]).catch((error) => {
        failure ??= error;
      });
    }
  };
  // All of them end before a failure is reported: the folder they write to goes with it.
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), sources.length) }, worker));
  if (failure !== undefined) throw failure;
}

/**
 * Builds the addon if its sources, flags, headers or compiler changed since the last time.
 * @returns {Promise<{ path: string, built: boolean }>} where it is, and whether it had to be compiled
 * @throws {Error} with a message for people when there is no compiler or the compilation fails
 */
export async function buildAddon() {
  const arch = process.env.SHOAL_ADDON_ARCH ?? process.arch;
  const foreign = arch !== process.arch;
  const buildFolder = join(packageFolder, foreign ? `build/${process.platform}-${arch}` : "build");
  const path = join(buildFolder, "shoal.node");
  const stampPath = join(buildFolder, "shoal.stamp");
  const compiler = findCompiler();
  const folders = includeFolders();
  const allFlags = flags(process.platform);
  const stamp = stampOf(compiler, folders, allFlags, [process.platform, arch]);
  if (isFile(path) && isFile(stampPath) && readFileSync(stampPath, "utf8") === stamp) return { path, built: false };

  // A folder of this process: two builds at once must not see each other's halves.
  const workFolder = join(buildFolder, `work-${process.pid}`);
  mkdirSync(workFolder, { recursive: true });
  try {
    const sources = readdirSync(sourceFolder).filter((name) => name.endsWith(".cc"));
    // The biggest file first, so that the last one to finish is a small one.
    sources.sort((a, b) => statSync(join(sourceFolder, b)).size - statSync(join(sourceFolder, a)).size);
    const objectOf = (source) => join(workFolder, source.replace(/\.cc$/, ".o"));
    const args = [...allFlags.compile, ...folders.flatMap((folder) => ["-isystem", folder])];
    await compileAll(compiler, sources, objectOf, args);
    const result = join(workFolder, "shoal.node");
    await run(compiler, [...allFlags.link, "-o", result, ...sources.map(objectOf)]);
    if (!foreign) checkLoads(result);
    rmSync(stampPath, { force: true });
    renameSync(result, path);
    writeFileSync(`${stampPath}.${process.pid}`, stamp);
    renameSync(`${stampPath}.${process.pid}`, stampPath);
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
  return { path, built: true };
}

/** Loads the result in a process of its own: what does not load here must not replace what did. */
function checkLoads(path) {
  if (process.env.CXXFLAGS?.includes("-fsanitize")) return; // needs its runtime preloaded
  const check = spawnSync(process.execPath, ["-e", "require(process.argv[1])", path], { encoding: "utf8" });
  if (check.status !== 0) throw new BuildError(`shoal: the compiled addon does not load:\n${check.stderr}`);
}

if (process.argv[1] !== undefined && fileURLToPath(import.meta.url) === process.argv[1]) {
  try {
    const started = performance.now();
    const { path, built } = await buildAddon();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(built ? `shoal: addon compiled in ${seconds} s: ${path}` : `shoal: addon is up to date: ${path}`);
  } catch (error) {
    console.error(error instanceof BuildError ? error.message : error);
    process.exitCode = 1;
  }
}
