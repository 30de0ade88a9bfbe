import { cp, mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomVector } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";
import { Answers } from "./answers.js";
import { Failures, type FaultRow } from "./fault-row.js";
import { KnownData } from "./known-data.js";
import { filesBelow } from "./store-folders.js";

const DIMENSIONS = 16;
const QUERIES = 10;
/** After every fifth flip the server is stopped and started once more: what it wrote meanwhile may hide the damage. */
const RESTART_EVERY = 5;

/**
 * R13: one bit of one file is flipped, the server started, and everything asked that it knows. Each answer is right or
 * an error, or the server refuses to start and says why: never a wrong answer, never a crash, nor after another start. Files are chosen evenly,
 * so that small ones (schema, markers) get their share.
 */
export const R13: FaultRow = {
  id: "R13",
  title: "random bit flips over all files",
  needs: [],
  run: async ({ size, random, say }) => {
    const [flips, count] = size === "short" ? [20, 300] : [1_000, 900];
    const failures = new Failures();
    const folder = await mkdtemp(join(tmpdir(), "shoal-bit-flips-"));
    const pristine = join(folder, "pristine");
    const damaged = join(folder, "data");
    const tally = { unharmed: 0, "reported by answers": 0, "refused at the start": 0 };
    let restarts = 0;
    try {
      const answers = await prepare(pristine, damaged, count, random);
      await using server = answers.server;
      for (let flip = 1; flip <= flips; flip++) {
        await rm(damaged, { recursive: true, force: true });
        await cp(pristine, damaged, { recursive: true });
        const what = await flipBit(damaged, random);
        const outcome = await startAndAsk(server, answers.truth, what, failures);
        tally[outcome] += 1;
        if (flip % RESTART_EVERY === 0 && outcome !== "refused at the start") {
          // What is damaged may end with 1.
          server.signal("SIGTERM");
          await server.exited();
          restarts += 1;
          await startAndAsk(server, answers.truth, `${what}, second start`, failures);
        }
        if (server.running) await server.kill();
        if (flip % 100 === 0) say(`${flip} flips: ${JSON.stringify(tally)}, ${failures.count} failures`);
      }
      return {
        figures: {
          "bit flips": flips,
          ...tally,
          "second starts": restarts,
          "flips with silently wrong answers or a crash": failures.count,
        },
        failures: failures.lines,
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** Makes a data folder of two shards, part in snapshots and part only in the journal, and a copy of it. */
async function prepare(pristine: string, damaged: string, count: number, random: () => number) {
  const server = await ServerProcess.start({ dataPath: damaged });
  const data = KnownData.random(server.http, "Car", count, DIMENSIONS, random);
  await data.createClass(2);
  for (const half of [0, 1]) {
    const objects = data.objects.filter(({ n }) => n % 2 === half).map((one) => data.body(one));
    const answer = await server.http.post("/v1/batch/objects", { objects });
    if (answer.status !== 200) throw new Error(answer.text);
    if (half === 0) await server.restart();
  }
  const queries = Array.from({ length: QUERIES }, () => randomVector(random, DIMENSIONS));
  const truth = await Answers.of(data, queries);
  await server.kill();
  await cp(damaged, pristine, { recursive: true });
  return { server, truth };
}

type Outcome = "unharmed" | "reported by answers" | "refused at the start";

/** A server that started is left running. */
async function startAndAsk(server: ServerProcess, truth: Answers, what: string, failures: Failures): Promise<Outcome> {
  // The server keeps the end of its output only: lengths from before say nothing.
  server.output = "";
  server.spawn();
  const refusal = await server.ready().then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (refusal !== undefined) {
    const exit = server.running ? undefined : await server.exited();
    const said = server.output.trim();
    const clean = exit?.code === 1 && exit.signal === null && /^shoal: .+/m.test(said);
    failures.check(clean, `${what}: the start ended with ${JSON.stringify(exit)}: ${said.slice(-300)}`);
    return "refused at the start";
  }
  const { reported, wrong } = await truth.check();
  if (wrong.length > 0) failures.add(`${what}: ${wrong.length} answers are wrong, such as ${wrong[0]}`);
  failures.check(server.running, `${what}: the process ended: ${server.output.slice(-300)}`);
  return reported > 0 ? "reported by answers" : "unharmed";
}

async function flipBit(folder: string, random: () => number): Promise<string> {
  const sizes = await Promise.all(
    (await filesBelow(folder)).map(async (path) => ({ path, bytes: (await stat(path)).size })),
  );
  const files = sizes.filter(({ bytes }) => bytes > 0);
  const file = files[Math.floor(random() * files.length)];
  if (file === undefined) throw new Error("no files");
  const offset = Math.floor(random() * file.bytes);
  const bit = Math.floor(random() * 8);
  const handle = await open(file.path, "r+");
  try {
    const byte = Buffer.alloc(1);
    await handle.read(byte, 0, 1, offset);
    byte[0] = (byte[0] ?? 0) ^ (1 << bit);
    await handle.write(byte, 0, 1, offset);
  } finally {
    await handle.close();
  }
  return `bit ${bit} of byte ${offset} of ${file.bytes} of ${file.path.slice(folder.length + 1)}`;
}
