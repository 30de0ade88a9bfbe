// Compiles the engine with stress.cc under a sanitizer and runs it:
//   node packages/native/stress/run.mjs thread|address [rounds]
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [sanitizer = "thread", rounds = "200"] = process.argv.slice(2);
const stressFolder = dirname(fileURLToPath(import.meta.url));
const packageFolder = dirname(stressFolder);
const modules = join(packageFolder, "node_modules");
const sources = readdirSync(join(packageFolder, "cpp"))
  .filter(
    (name) =>
      name.endsWith(".cc") && !/^(addon|crc32c|float32-list|free-memory|nearest-rows|xxh3|node-.*)\.cc$/.test(name),
  )
  .map((name) => join(packageFolder, "cpp", name));
const folder = mkdtempSync(join(tmpdir(), "shoal-stress-"));
const sanitize = sanitizer === "address" ? "address,undefined" : sanitizer;
const run = (command, args, options = {}) => {
  const { status } = spawnSync(command, args, { stdio: "inherit", ...options });
  if (status !== 0) process.exitCode = 1;
  return status === 0;
};
try {
  const program = join(folder, "stress");
  const includes = ["node-api-headers/include", "xxhash-addon/xxHash"].flatMap((name) => [
    "-isystem",
    join(modules, name),
  ]);
  const flags = ["-std=c++17", "-O1", "-g", `-fsanitize=${sanitize}`, "-pthread", "-DNAPI_VERSION=9"];
  const all = [...flags, ...includes, ...sources, join(stressFolder, "xxh3-alone.cc"), join(stressFolder, "stress.cc")];
  if (run(process.env.CXX ?? "c++", [...all, "-o", program])) {
    run(program, [rounds], {
      env: {
        ...process.env,
        TSAN_OPTIONS: "halt_on_error=0 second_deadlock_stack=1",
        UBSAN_OPTIONS: "print_stacktrace=1",
      },
    });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
