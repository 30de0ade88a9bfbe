import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const ADDON = fileURLToPath(new URL("../build/shoal.node", import.meta.url));
const DEADLINE_MS = 60_000;

/** Counts the arenas that threads have made: glibc reserves 64 MiB for each, at a multiple of that, and opens what is used of it. */
const COUNT = `
const { readFileSync } = require("node:fs");
const scrypt = require("node:util").promisify(require("node:crypto").scrypt);
if (process.argv[1]) require(process.argv[1]);
const ARENA = 1n << 26n;
const mappings = () => readFileSync("/proc/self/maps", "utf8").split("\\n").flatMap((line) => {
  const found = /^([0-9a-f]+)-([0-9a-f]+) (\\S+)/.exec(line);
  return found === null ? [] : [{ start: BigInt("0x" + found[1]), end: BigInt("0x" + found[2]), may: found[3] }];
});
const isArena = (open, at, all) =>
  open.start % ARENA === 0n && open.may === "rw-p" &&
  all[at + 1]?.may === "---p" && all[at + 1].start === open.end && all[at + 1].end - open.start === ARENA;
const before = mappings().filter(isArena).length;
Promise.all(Array.from({ length: 64 }, (_, i) => scrypt("password", "salt" + i, 32, { N: 256 })))
  .then(() => console.log(JSON.stringify({ before, after: mappings().filter(isArena).length })));
`;

/** Before many threads have allocated, and after it. Node's own threads may have made some before the addon is loaded. */
interface Arenas {
  readonly before: number;
  readonly after: number;
}

async function arenasOf(addon: string, environment: Readonly<Record<string, string>> = {}): Promise<Arenas> {
  const env = { PATH: process.env.PATH ?? "", UV_THREADPOOL_SIZE: "32", ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", COUNT, addon], { env });
  return JSON.parse(stdout) as Arenas;
}

/** Whether there are more than the addon allows, where the first one of the process is no mapping of this kind. */
const areMany = ({ before, after }: Arenas): boolean => after > Math.max(1, before);

/** Whether the C library is glibc, and the machine is one for which it would make more than two. */
const makesMany = process.platform === "linux" && areMany(await arenasOf(""));

describe.skipIf(!makesMany)("a process with the addon", () => {
  it(
    "makes few arenas, however many threads allocate",
    async () => {
      expect(await arenasOf(ADDON)).not.toSatisfy(areMany);
    },
    DEADLINE_MS,
  );

  it(
    "makes as many as the environment allows",
    async () => {
      expect(await arenasOf(ADDON, { MALLOC_ARENA_MAX: "12" })).toSatisfy(areMany);
      expect(await arenasOf(ADDON, { GLIBC_TUNABLES: "glibc.malloc.arena_max=12" })).toSatisfy(areMany);
    },
    DEADLINE_MS,
  );
});
