import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ServerProcess } from "../server-process.js";
import { Failures, type FaultRow } from "./fault-row.js";
import { KnownData } from "./known-data.js";
import { storeFolders } from "./store-folders.js";

/** Beside the sources, also when the compiled row runs. */
const SHIM = fileURLToPath(new URL("../../src/faults/failing-sync.c", import.meta.url));

/**
 * R11: the syncs of one shard fail with EIO. That shard stops acknowledging and says so, the other ones go on; what was
 * acknowledged is read before and after a restart.
 */
export const R11: FaultRow = {
  id: "R11",
  title: "fsync fails for one shard",
  needs: ["C compiler"],
  run: async ({ size, random, say }) => {
    const count = size === "short" ? 1_000 : 20_000;
    const failures = new Failures();
    const folder = await mkdtemp(join(tmpdir(), "shoal-failing-sync-"));
    const control = join(folder, "control");
    const shim = join(folder, "failing-sync.so");
    try {
      execFileSync(process.env.CC ?? "cc", ["-shared", "-fPIC", "-O1", "-o", shim, SHIM, "-ldl"]);
      await using server = await ServerProcess.start({ env: { LD_PRELOAD: shim, SYNC_FAULT: control } });
      const good = KnownData.random(server.http, "Good", count, 16, random);
      const bad = KnownData.random(server.http, "Bad", count, 16, random);
      await good.createClass(1);
      await touch(good);
      const before = new Set(await storeFolders(server.dataPath));
      await bad.createClass(1);
      await touch(bad);
      const added = (await storeFolders(server.dataPath)).filter((path) => !before.has(path));
      const badFolder = added[0];
      if (badFolder === undefined || added.length !== 1) throw new Error(`a new shard made ${added.length} stores`);

      const firstHalf = bad.import((done) => {
        if (done >= count / 2) writeFileSync(control, badFolder);
      });
      const trouble = await firstHalf;
      failures.check(trouble !== undefined, "the shard whose syncs fail went on acknowledging");
      failures.check(!/^connection/.test(trouble ?? ""), `the failure is no answer: ${trouble}`);
      const atFault = bad.acknowledged.size;
      say(`the shard stopped after ${atFault} of ${count}: ${trouble}`);
      const again = await bad.import();
      failures.check(again !== undefined && bad.acknowledged.size === atFault, "it acknowledged after the fault");
      const goodTrouble = await good.import();
      failures.check(goodTrouble === undefined, `the other shard stopped too: ${goodTrouble}`);
      failures.check(server.running, "the process ended");
      await good.checkIds(failures, true);
      await good.checkVectors(failures, 300);
      await bad.checkVectors(failures, 300);

      await writeFile(control, "");
      await server.kill();
      await server.launch();
      await good.checkIds(failures, true);
      await bad.checkIds(failures);
      await bad.checkVectors(failures, 300);
      const rest = await bad.import();
      failures.check(rest === undefined, `after the restart writes fail: ${rest}`);
      await bad.checkIds(failures, true);
      return {
        figures: {
          "acknowledged before the fault": atFault,
          "acknowledged by the other shard meanwhile": good.acknowledged.size,
          "lost or changed": failures.count,
        },
        failures: failures.lines,
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** Opens the class's shard, whenever the server does that. */
async function touch(data: KnownData): Promise<void> {
  const [object] = data.objects;
  if (object === undefined) throw new Error("no objects");
  const id = "00000000-0000-0000-0000-000000000001";
  await data.http.post("/v1/objects", data.body({ ...object, id }));
  await data.http.delete(`/v1/objects/${id}`);
}
