import { join } from "node:path";
import { ServerProcess } from "../server-process.js";
import { SmallDisk } from "../small-disk.js";
import { Failures, type FaultRow } from "./fault-row.js";
import { KnownData } from "./known-data.js";

const DISK_MIB = 256;
/** What the server itself keeps back. */
const RESERVE_MIB = 32;
const LEFT_MIB = 8;
const FILLINGS_MAX = 6;
const RESUME_TIMEOUT_MS = 20_000;

/**
 * R10: the disk (a small tmpfs) fills up under an import. Writes fail with a clear error, the process lives, reads work,
 * also after a restart on the full disk; writes come back by themselves when there is room again.
 */
export const R10: FaultRow = {
  id: "R10",
  title: "disk full",
  needs: ["root", "mount"],
  run: async ({ size, random, say }) => {
    const failures = new Failures();
    using disk = new SmallDisk(DISK_MIB);
    await using server = await ServerProcess.start({ dataPath: join(disk.folder, "data") });
    const data = KnownData.random(server.http, "Car", size === "short" ? 200_000 : 600_000, 64, random);
    await data.createClass(2);
    await disk.fill(RESERVE_MIB + LEFT_MIB);
    const trouble = await data.import();
    failures.check(trouble !== undefined, "the disk never became full");
    failures.check(/disk|space|ENOSPC/i.test(trouble ?? ""), `the error does not name the disk: ${trouble}`);
    say(`full after ${data.acknowledged.size} objects: ${trouble}`);
    const reads = async (when: string): Promise<void> => {
      const before = failures.count;
      await data.checkIds(failures);
      await data.checkVectors(failures, 200);
      failures.check(failures.count === before, `reads failed ${when}`);
    };
    failures.check(server.running, "the process ended");
    await reads("while full");
    const status = await postWhileFull(server, disk, data);
    failures.check(status >= 500 || status === 429, `a POST while full gave ${status}`);

    const { code } = await server.stop();
    failures.check(code === 0, `stopping while full gave exit code ${code}`);
    await server.launch();
    await reads("after a restart while full");

    await disk.free();
    const begun = performance.now();
    let rest: string | undefined = "not tried";
    // Only as much as fits now: the filler was most of the disk.
    const goal = data.acknowledged.size + 2_000;
    const more = KnownData.random(server.http, "Car", 2_000, 64, random);
    while (rest !== undefined && performance.now() - begun < RESUME_TIMEOUT_MS) {
      rest = await more.import();
      if (rest !== undefined) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const resumedMs = performance.now() - begun;
    failures.check(rest === undefined, `writes did not come back: ${rest}`);
    await more.checkVectors(failures, 200);
    await server.kill();
    await server.launch();
    await more.checkVectors(failures, 200);
    await data.checkVectors(failures, 200);
    return {
      figures: {
        "acknowledged before it was full": goal - 2_000,
        "all of 2,000 more written after (ms)": Math.round(resumedMs),
        failures: failures.count,
      },
      failures: failures.lines,
    };
  },
};

/**
 * The status of a POST on a full disk. A merge of tables may have made room again, and then it is stored, rightly: it
 * counts as one of the others, and the disk is filled again.
 */
async function postWhileFull(server: ServerProcess, disk: SmallDisk, data: KnownData): Promise<number> {
  const unsent = data.objects.slice(-FILLINGS_MAX);
  let last = 0;
  for (const object of unsent) {
    const { status } = await server.http.post("/v1/objects", data.body(object));
    if (status !== 200) return status;
    data.acknowledged.add(object.n);
    last = status;
    // Down to half of what the server keeps back.
    await disk.fill(RESERVE_MIB / 2);
    // The store looks at the disk from time to time.
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return last;
}
