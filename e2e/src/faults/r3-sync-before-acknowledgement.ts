import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomId } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";
import { Failures, type FaultRow } from "./fault-row.js";

/** A line of strace on which a sync of a write-ahead log or a response comes to its end. */
const SYNC_DONE = /(fdatasync|fsync)(\(\d+<[^>]*>|\sresumed>).*\)\s+= 0/;
const RESPONSE = /(write|writev|sendmsg|sendto)\(\d+<[^>]*>.*HTTP\/1\.1 (\d{3})/;

/**
 * R3: a system call trace of the server shows a sync of stable storage that ended before each acknowledgement of a
 * write and after the one before it. Concurrent writes may share one.
 */
export const R3: FaultRow = {
  id: "R3",
  title: "a sync before each acknowledgement, in a system call trace",
  needs: ["strace"],
  run: async ({ size, random }) => {
    const writes = size === "short" ? 20 : 200;
    const failures = new Failures();
    const folder = await mkdtemp(join(tmpdir(), "shoal-strace-"));
    const trace = join(folder, "trace");
    try {
      const calls = "trace=fdatasync,fsync,write,writev,sendmsg,sendto";
      await using server = await ServerProcess.start({
        // -D: the server stays our child, strace watches from aside.
        prefix: ["strace", "-D", "-f", "-y", "-s", "32", "-e", calls, "-e", "signal=none", "-o", trace],
      });
      const { http } = server;
      await http.post("/v1/schema", { class: "Car", properties: [{ name: "n", dataType: ["int"] }] });
      const expected: number[] = [];
      const did = async (what: Promise<{ readonly status: number }>): Promise<void> => {
        expected.push((await what).status);
      };
      const mark = (await readFile(trace, "utf8")).length;
      for (let n = 0; n < writes; n++) {
        const id = randomId(random);
        await did(http.post("/v1/objects", { class: "Car", id, properties: { n }, vector: [n, 1] }));
        await did(http.patch(`/v1/objects/${id}`, { class: "Car", properties: { n: n + 1 } }));
        await did(http.put(`/v1/objects/${id}`, { class: "Car", vector: [n, 2] }));
        await did(http.post("/v1/batch/objects", { objects: [{ class: "Car", vector: [n, 3] }] }));
        await did(http.delete(`/v1/objects/${id}`));
      }
      const sequential = (await readFile(trace, "utf8")).length;
      const together = await Promise.all(
        Array.from({ length: 64 }, (_, n) => http.post("/v1/objects", { class: "Car", vector: [n, 4] })),
      );
      failures.check(
        together.every((one) => one.status === 200),
        "a concurrent write failed",
      );
      await server.kill();
      const text = await readFile(trace, "utf8");
      const first = count(text.slice(mark, sequential));
      failures.check(first.responses.length === expected.length, `${first.responses.length} answers in the trace`);
      for (const [i, syncs] of first.responses.entries()) {
        failures.check(syncs > 0, `write ${i} (status ${expected[i]}) was acknowledged without a sync before it`);
      }
      failures.check(
        expected.every((status) => status === 200 || status === 204),
        `statuses ${new Set(expected)}`,
      );
      const burst = count(text.slice(sequential));
      failures.check((burst.responses[0] ?? 0) > 0, "the first of the concurrent writes had no sync before it");
      return {
        figures: {
          "writes one after the other": expected.length,
          "syncs before them": first.syncs,
          "concurrent writes": together.length,
          "syncs they shared": burst.syncs,
          "acknowledged without a sync": first.responses.filter((syncs) => syncs === 0).length,
        },
        failures: failures.lines,
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** For each response the number of syncs that ended since the one before it. */
function count(trace: string): { readonly syncs: number; readonly responses: readonly number[] } {
  const responses: number[] = [];
  let syncs = 0;
  let sinceResponse = 0;
  for (const line of trace.split("\n")) {
    if (SYNC_DONE.test(line)) {
      syncs += 1;
      sinceResponse += 1;
    } else if (RESPONSE.test(line)) {
      responses.push(sinceResponse);
      sinceResponse = 0;
    }
  }
  return { syncs, responses };
}
