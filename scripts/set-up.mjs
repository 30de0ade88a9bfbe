import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { interruptible, runCommand, SetUpError } from "./run-command.mjs";

/** The root of the repository. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * What a command needs. `install`: filters for pnpm, none means every package. `projects`: what tsc builds.
 * `serve` leaves out data sets, test clients and benchmarks.
 */
const SCOPES = {
  serve: { install: ["shoal", "@shoal/cli..."], projects: ["packages/cli"] },
  scripts: { install: [], projects: ["packages/cli", "scripts"] },
  e2e: { install: [], projects: ["packages/cli", "e2e"] },
  all: { install: [], projects: ["."] },
};

const stampFolder = join(root, ".cache", "set-up");
const addon = join(root, "packages", "native", "build.mjs");
const rocksdbBinder = join(root, "packages", "kv", "bind-rocksdb.mjs");
const consolePage = join(root, "packages", "console", "build.mjs");
const bundler = join(root, "packages", "cli", "bundle.mjs");
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
const NODE_GYP_VERSION = "12.4.0";

/**
 * Makes the scope (a key of SCOPES) ready to run: packages installed, addon and TypeScript built. Does nothing when
 * lockfile and sources are those of the last time. A failure is printed as one line (with what the failed command
 * said) and ends the process with exit code 1.
 */
export async function setUp(scopeName) {
  const scope = SCOPES[scopeName];
  try {
    if (isInstalled(scope) && isBuilt(scope, scopeName)) return;
    await interruptible(() =>
      alone(async () => {
        if (!isInstalled(scope)) await install(scope);
        if (!isBuilt(scope, scopeName)) await build(scope, scopeName);
      }),
    );
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    if (error.details !== "") console.error(lastLines(error.details, 40));
    console.error(`shoal: ${error.message}`);
    process.exit(1);
  }
}

// --- packages

function installStampName(scope) {
  return scope.install.length === 0 ? "installed-all" : "installed-serve";
}

/** Everything that decides what an installation looks like. */
function installFingerprint() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`);
  const shared = ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ".npmrc", relative(root, rocksdbBinder)];
  for (const path of [...shared, ...packageFiles()]) {
    hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
}

function packageFiles() {
  return packageFolders()
    .map((folder) => join(folder, "package.json"))
    .sort();
}

/** Folders of all workspace packages, relative to the root. */
function packageFolders() {
  const inPackages = ["packages", "packages/modules"].flatMap((folder) =>
    existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map((name) => join(folder, name)) : [],
  );
  return [...inPackages, "scripts", "e2e", "e2e/data-sets"].filter((folder) =>
    existsSync(join(root, folder, "package.json")),
  );
}

function isInstalled(scope) {
  if (!existsSync(join(root, "node_modules", ".modules.yaml"))) return false;
  const installed =
    scope.install.length === 0
      ? packageFolders()
      : ["packages/cli", "packages/kv", "packages/gateway", "packages/console"];
  if (!installed.every((folder) => existsSync(join(root, folder, "node_modules")) || !hasDependencies(folder))) {
    return false;
  }
  const fingerprint = installFingerprint();
  return [installStampName(scope), "installed-all"].some((name) => readStamp(name) === fingerprint);
}

function hasDependencies(folder) {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  return Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).length > 0;
}

async function install(scope) {
  console.log("shoal: installing packages");
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const filters = scope.install.flatMap((name) => ["--filter", name]);
  clearStamps("installed-");
  try {
    await npx("installing packages failed", [packageManager, "install", "--frozen-lockfile", ...filters], root);
  } catch (error) {
    throw unreachableRegistry(error) ?? error;
  }
  await makeRocksdbLoadable();
  writeStamp(installStampName(scope), installFingerprint());
}

function unreachableRegistry(error) {
  const reason = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)\b/.exec(
    error.details ?? "",
  );
  if (reason === null) return undefined;
  return new SetUpError(`cannot reach the npm registry (${reason[1]}); installing packages needs it once`);
}

/**
 * Package `rocksdb` ships binaries for linux x64, macOS and Windows; those for Linux are made fit for every Node. Anywhere
 * else it is compiled here, once, against the headers of the node that runs (none can be downloaded).
 */
async function makeRocksdbLoadable() {
  const kv = join(root, "packages", "kv");
  const rocksdb = join(kv, "node_modules", "rocksdb");
  if (!existsSync(rocksdb)) return;
  await runCommand("preparing the binary of rocksdb failed", process.execPath, [rocksdbBinder, rocksdb], { cwd: root });
  const load = () => runCommand("loading rocksdb failed", process.execPath, ["-e", "require('rocksdb')"], { cwd: kv });
  const loaded = await load().then(
    () => true,
    () => false,
  );
  if (loaded) return;
  console.log(`shoal: compiling rocksdb for ${process.platform} ${process.arch} (several minutes, once)`);
  const nodeFolder = dirname(dirname(process.execPath));
  if (!existsSync(join(nodeFolder, "include", "node", "node_api.h"))) {
    throw new SetUpError(`rocksdb must be compiled here, and ${nodeFolder}/include/node has no headers of Node`);
  }
  await npx(
    "compiling rocksdb failed (it needs python3, make and a C++ compiler)",
    [`node-gyp@${NODE_GYP_VERSION}`, "rebuild", `--nodedir=${nodeFolder}`],
    rocksdb,
  );
  await load();
}

/** npx of the npm that belongs to this node, also when it is not on the PATH. */
function npx(failure, args, cwd) {
  const besideNpm = process.env.npm_execpath && join(dirname(process.env.npm_execpath), "npx-cli.js");
  const besideNode = join(dirname(dirname(process.execPath)), "lib", "node_modules", "npm", "bin", "npx-cli.js");
  const script = [besideNpm, besideNode].find((path) => path && existsSync(path));
  const [command, before] = script === undefined ? ["npx", []] : [process.execPath, [script]];
  // CI=true: pnpm must not ask. An empty HOME would put caches into the working folder.
  const env = { ...process.env, CI: "true", HOME: process.env.HOME || userInfo().homedir };
  return runCommand(failure, command, [...before, "--yes", ...args], { cwd, env });
}

// --- addon and TypeScript

function isBuilt(scope, scopeName) {
  const projects = projectsOf(scope);
  if (!projects.every((project) => existsSync(join(root, project, "dist", ".tsbuildinfo")))) return false;
  if (!existsSync(join(dirname(consolePage), "dist", "page", "index.html"))) return false;
  if (!existsSync(join(root, "packages", "cli", "dist", "bundle", "start.js"))) return false;
  return readStamp(`built-${scopeName}`) === sourceFingerprint(projects);
}

/** Folders of all TypeScript projects that building the scope builds. */
function projectsOf(scope) {
  const found = new Set();
  const visit = (project) => {
    if (found.has(project)) return;
    found.add(project);
    const { references = [] } = JSON.parse(readFileSync(join(root, project, "tsconfig.json"), "utf8"));
    for (const { path } of references) visit(join(project, path));
  };
  for (const project of scope.projects) visit(project);
  found.delete(".");
  return [...found];
}

/** Names, sizes and times of everything that a build reads. */
function sourceFingerprint(projects) {
  const hash = createHash("sha256").update(`${installFingerprint()}\n`);
  for (const path of [join(root, "tsconfig.base.json"), ...projects.flatMap((folder) => sources(join(root, folder)))]) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${relative(root, path)} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

const NOT_SOURCES = new Set(["node_modules", "dist", "build", ".cache"]);

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return NOT_SOURCES.has(entry.name) ? [] : sources(path);
      return /\.(md|test\.ts)$/.test(entry.name) ? [] : [path];
    });
}

async function build(scope, scopeName) {
  const projects = projectsOf(scope);
  const fingerprint = sourceFingerprint(projects);
  console.log("shoal: building the native addon");
  await runCommand("building the native addon failed", process.execPath, [addon], { cwd: root });
  console.log("shoal: compiling TypeScript");
  await runCommand("compiling TypeScript failed", process.execPath, [tsc, "-b", ...scope.projects], { cwd: root });
  console.log("shoal: bundling the server");
  await runCommand("bundling the server failed", process.execPath, [bundler], { cwd: root });
  console.log("shoal: building the console");
  await runCommand("building the console failed", process.execPath, [consolePage], { cwd: root });
  writeStamp(`built-${scopeName}`, fingerprint);
  // What is part of it is built too.
  for (const [name, other] of Object.entries(SCOPES)) {
    const parts = projectsOf(other);
    if (name !== scopeName && parts.every((project) => projects.includes(project))) {
      writeStamp(`built-${name}`, sourceFingerprint(parts));
    }
  }
}

// --- stamps and the lock

function readStamp(name) {
  try {
    return readFileSync(join(stampFolder, name), "utf8");
  } catch {
    return undefined;
  }
}

function writeStamp(name, fingerprint) {
  writeFileSync(join(stampFolder, name), fingerprint);
}

function clearStamps(prefix) {
  for (const name of readdirSync(stampFolder)) if (name.startsWith(prefix)) rmSync(join(stampFolder, name));
}

/** Runs `work` while no other process sets up the same folder; waits for one that does. */
async function alone(work) {
  mkdirSync(stampFolder, { recursive: true });
  const lock = join(stampFolder, "lock");
  for (let told = false; ; told = true) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (!isAlive(Number(readStamp("lock")))) rmSync(lock, { force: true });
    else if (!told) console.log("shoal: waiting for another set-up of this folder");
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  const release = () => rmSync(lock, { force: true });
  process.on("exit", release);
  try {
    return await work();
  } finally {
    process.off("exit", release);
    release();
  }
}

function isAlive(pid) {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function lastLines(text, count) {
  return text.trimEnd().split("\n").slice(-count).join("\n");
}
