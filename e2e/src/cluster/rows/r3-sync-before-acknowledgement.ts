import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FaultRow } from "../../faults/fault-row.js";
import { at } from "../../http-client.js";
import { randomId } from "../../random-objects.js";
import { rowOnCluster } from "./row-on-cluster.js";

/** With `-ttt -T`: when a call began, or came back when it is told in two lines, and how long it took. */
const SYNC_DONE =
  /^\d+ +(\d+\.\d+) (?:(?:fdatasync|fsync)\(\d+<[^>]*>\)|<\.\.\. (?:fdatasync|fsync) resumed>\)?) += 0 <(\d+\.\d+)>/;
const RESUMED = / resumed>/;
/** Clocks of two processes on one machine, read by different means. */
const TOLERANCE_MS = 1;

/**
 * R3 on a cluster: traces of the storage nodes show, for each write one after the other, a sync of stable storage on the node
 * of its shard between the moment it was sent and the moment it was acknowledged.
 */
export const R3_CLUSTER: FaultRow = {
  id: "R3",
  on: "cluster",
  title: "a sync on the storage node before each acknowledgement, in a system call trace",
  needs: ["etcd", "strace"],
  run: async (run) => {
    const folder = await mkdtemp(join(tmpdir(), "shoal-strace-"));
    const traceOf = (name: string): string => join(folder, name);
    const prefix = (name: string): readonly string[] => {
      const calls = ["-e", "trace=fdatasync,fsync", "-e", "signal=none"];
      // -D: the process stays our child, strace watches from aside.
      return name.startsWith("storage")
        ? ["strace", "-D", "-f", "-y", "-ttt", "-T", ...calls, "-o", traceOf(name)]
        : [];
    };
    try {
      return await rowOnCluster({ prefix }, run, async ({ http, storageNodes }, failures) => {
        const { size, random } = run;
        const shardingConfig = { desiredCount: 1 };
        await http.post("/v1/schema", { class: "Car", properties: [{ name: "n", dataType: ["int"] }], shardingConfig });
        const nodes = at((await http.get("/v1/nodes")).json, "nodes");
        const owner = (Array.isArray(nodes) ? nodes : []).find((node) => at(node, "shards", 0, "class") === "Car");
        const name = String(at(owner, "name"));
        failures.check(
          storageNodes.some((node) => node.name === name),
          `no node has the shard: ${JSON.stringify(nodes)}`,
        );

        const writes: { readonly what: string; readonly sentMs: number; readonly doneMs: number }[] = [];
        const did = async (method: string, path: string, body?: unknown): Promise<void> => {
          const sentMs = Date.now();
          const { status, text } = await http.send(method, path, body);
          failures.check(status === 200 || status === 204, `${method} ${path}: ${status} ${text}`);
          writes.push({ what: `${method} ${path}`, sentMs, doneMs: Date.now() });
        };
        for (let n = 0; n < (size === "short" ? 20 : 200); n++) {
          const id = randomId(random);
          await did("POST", "/v1/objects", { class: "Car", id, properties: { n }, vector: [n, 1] });
          await did("PATCH", `/v1/objects/${id}`, { class: "Car", properties: { n: n + 1 } });
          await did("PUT", `/v1/objects/${id}`, { class: "Car", vector: [n, 2] });
          await did("POST", "/v1/batch/objects", { objects: [{ class: "Car", vector: [n, 3] }] });
          await did("DELETE", `/v1/objects/${id}`);
        }
        const syncs = syncTimesMs(readFileSync(traceOf(name), "utf8"));
        const unsynced = writes.filter(
          ({ sentMs, doneMs }) => !syncs.some((ms) => ms >= sentMs - TOLERANCE_MS && ms <= doneMs + TOLERANCE_MS),
        );
        for (const { what } of unsynced) failures.add(`${what} was acknowledged without a sync on ${name}`);
        return {
          "writes one after the other": writes.length,
          "syncs of the node": syncs.length,
          "acknowledged without a sync": unsynced.length,
        };
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** When each sync ended, in milliseconds since 1970. */
function syncTimesMs(trace: string): readonly number[] {
  return trace.split("\n").flatMap((line) => {
    const [, time, took] = SYNC_DONE.exec(line) ?? [];
    if (time === undefined) return [];
    return [1_000 * (Number(time) + (RESUMED.test(line) ? 0 : Number(took)))];
  });
}
