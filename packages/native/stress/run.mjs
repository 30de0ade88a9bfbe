// Compiles a stress program with what it drives, and runs it:
//   node packages/native/stress/run.mjs index [rounds] [thread|address]        everything at once on a vector index
//   node packages/native/stress/run.mjs scheduler [seconds] [thread|address]   the scheduler alone, indexes come and go
//   node packages/native/stress/run.mjs linker [rounds] [thread|address]       links of rows in a file, on a slow disk
//   node packages/native/stress/run.mjs frontier [rounds] [thread|address]     the candidates of a walk, against plain lists
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const stressFolder = dirname(fileURLToPath(import.meta.url));
const packageFolder = dirname(stressFolder);
const sourceFolder = join(packageFolder, "cpp");
const ADDON_ONLY = /^(addon|crc32c|duplicate-descriptor|float32-list|free-memory|nearest-rows|node-.*)\.cc$/;

const PROGRAMS = {
  index: {
    length: "200",
    sources: [
      ...readdirSync(sourceFolder)
        .filter((name) => name.endsWith(".cc") && !ADDON_ONLY.test(name))
        .map((name) => join(sourceFolder, name)),
      join(stressFolder, "index-stress.cc"),
    ],
  },
  scheduler: {
    length: "5",
    sources: [
      join(sourceFolder, "scheduler.cc"),
      join(sourceFolder, "scheduler-threads.cc"),
      join(stressFolder, "scheduler-stress.cc"),
    ],
  },
  linker: {
    length: "20",
    sources: [
      ...["graph", "graph-nodes", "link-node", "row-codes", "row-distances", "row-file", "row-records", "rows"],
      ...["scheduler", "scheduler-threads", "simd", "unreachable-nodes", "xxh3"],
    ]
      .map((name) => join(sourceFolder, `${name}.cc`))
      .concat(join(stressFolder, "linker-on-slow-disk.cc")),
  },
  frontier: { length: "1000", sources: [join(stressFolder, "frontier-oracle.cc")] },
};

const [name = "", length, sanitizer] = process.argv.slice(2);
const program = PROGRAMS[name];
if (program === undefined) {
  console.error(
    `usage: node packages/native/stress/run.mjs ${Object.keys(PROGRAMS).join("|")} [length] [thread|address]`,
  );
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "shoal-stress-"));
const run = (command, args, options = {}) => {
  const { status } = spawnSync(command, args, { stdio: "inherit", ...options });
  if (status !== 0) process.exitCode = 1;
  return status === 0;
};
try {
  const target = join(folder, name);
  const includes = ["node-api-headers/include", "xxhash-addon/xxHash"].flatMap((path) => [
    "-isystem",
    join(packageFolder, "node_modules", path),
  ]);
  const sanitize = sanitizer === "address" ? "address,undefined" : sanitizer;
  const flags = ["-std=c++17", "-O1", "-g", "-pthread", "-DNAPI_VERSION=9", "-D_GLIBCXX_ASSERTIONS"];
  if (sanitize !== undefined) flags.push(`-fsanitize=${sanitize}`);
  if (run(process.env.CXX ?? "c++", [...flags, ...includes, ...program.sources, "-o", target])) {
    run(target, [length ?? program.length], {
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
