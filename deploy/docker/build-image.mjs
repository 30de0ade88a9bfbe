// What the build stage of the Dockerfile runs: node build-image.mjs FOLDER STORE. Builds the shoal command and puts it into
// the folder, laid out as the repository is, with exactly the packages that it needs at run time. STORE is where pnpm keeps
// what it has fetched. GIT_HASH in the environment is the commit that the image says it was built of.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [folder = "", store = ""] = process.argv.slice(2);
const { packageManager } = JSON.parse(readFileSync("package.json", "utf8"));

function run(command, ...args) {
  execFileSync(command, args, { stdio: "inherit" });
}

function pnpm(...args) {
  run("npx", "--yes", packageManager, "--store-dir", store, ...args);
}

/** Paths of all folders called `name` below `path`, links not followed. */
function foldersCalled(name, path) {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [];
    const inner = join(path, entry.name);
    return entry.name === name ? [inner] : foldersCalled(name, inner);
  });
}

pnpm("install", "--frozen-lockfile", "--filter", "shoal", "--filter", "@shoal/cli...");
run("node", "packages/native/build.mjs");
run("node", "node_modules/typescript/bin/tsc", "-b", "packages/cli");
run("node", "packages/cli/bundle.mjs");
run("node", "packages/console/build.mjs");

// What runs: manifests with their packages, what was built, the wire.
mkdirSync(join(folder, "packages"), { recursive: true });
for (const name of [".npmrc", "package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "LICENSE", "NOTICE"]) {
  copyFileSync(name, join(folder, name));
}
for (const manifest of ["packages", "packages/modules"].flatMap((path) =>
  existsSync(path) ? readdirSync(path).map((name) => join(path, name, "package.json")) : [],
)) {
  if (!existsSync(manifest)) continue;
  const own = join(manifest, "..");
  mkdirSync(join(folder, own), { recursive: true });
  copyFileSync(manifest, join(folder, manifest));
  for (const built of ["dist", "build"]) {
    if (existsSync(join(own, built)))
      cpSync(join(own, built), join(folder, own, built), { recursive: true, verbatimSymlinks: true });
  }
}
cpSync("protos", join(folder, "protos"), { recursive: true });
const rocksdbBinder = resolve("packages/kv/bind-rocksdb.mjs");
process.chdir(folder);
pnpm("install", "--prod", "--frozen-lockfile", "--filter", "@shoal/cli...");

// RocksDB is compiled where it brings no binary (linux arm64), as scripts/set-up.mjs does. Then its sources go, and its binaries for
// other platforms; the one that stays must load here.
const NODE_GYP = "node-gyp@12.4.0";
for (const rocksdb of foldersCalled("rocksdb", join("node_modules", ".pnpm"))) {
  const prebuilds = join(rocksdb, "prebuilds");
  if (!existsSync(join(prebuilds, `${process.platform}-${process.arch}`))) {
    const headers = `--nodedir=${join(process.execPath, "..", "..")}`;
    execFileSync("npx", ["--yes", NODE_GYP, "rebuild", headers], { stdio: "inherit", cwd: rocksdb });
    rmSync(join(rocksdb, "build", "Release", "obj.target"), { recursive: true, force: true });
  }
  rmSync(join(rocksdb, "deps"), { recursive: true, force: true });
  for (const platform of existsSync(prebuilds) ? readdirSync(prebuilds) : []) {
    if (platform !== `${process.platform}-${process.arch}`) rmSync(join(prebuilds, platform), { recursive: true });
  }
  run("node", rocksdbBinder, rocksdb);
}
execFileSync("node", ["-e", "require('rocksdb')"], { stdio: "inherit", cwd: join("packages", "kv") });
copyFileSync(join(import.meta.dirname, "probe.mjs"), "probe.mjs");
writeFileSync("GIT_HASH", `${process.env.GIT_HASH ?? ""}\n`);
