import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { at } from "../../http-client.js";
import { randomId } from "../../random-objects.js";
import { rowOnCluster, withOneAndThreeCopies } from "./row-on-cluster.js";

/** With `-ttt -T`: when a call began, or came back when it is told in two lines, and how long it took. */
const SYNC_DONE =
  /^\d+ +(\d+\.\d+) (?:(?:fdatasync|fsync)\(\d+<[^>]*>\)|<\.\.\. (?:fdatasync|fsync) resumed>\)?) += 0 <(\d+\.\d+)>/;
const RESUMED = / resumed>/;
/** Clocks of two processes on one machine, read by different means. */
const TOLERANCE_MS = 1;

/**
 * R3 on a cluster: traces of the storage nodes show, for each write one after the other, a sync of stable storage on the node
 * of its shard, and with three copies on all three nodes, between the moment it was sent and the moment it was acknowledged.
 */
export const R3_CLUSTER = withOneAndThreeCopies((copies) => ({
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
      return await rowOnCluster({ prefix, copies }, run, async ({ http, storageNodes }, failures) => {
        const { size, random } = run;
        const shardingConfig = { desiredCount: 1 };
        await http.post("/v1/schema", { class: "Car", properties: [{ name: "n", dataType: ["int"] }], shardingConfig });
        const nodes = at((await http.get("/v1/nodes")).json, "nodes");
        const owners = (Array.isArray(nodes) ? nodes : []).filter((node) => at(node, "shards", 0, "class") === "Car");
        const names = owners.map((owner) => String(at(owner, "name")));
        const isRight = names.length === copies && names.every((name) => storageNodes.some((one) => one.name === name));
        failures.check(isRight, `not ${copies} nodes have the shard: ${JSON.stringify(nodes)}`);

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
        let unsynced = 0;
        let syncsOfAll = 0;
        for (const name of names) {
          const syncs = syncTimesMs(readFileSync(traceOf(name), "utf8"));
          syncsOfAll += syncs.length;
          for (const { what, sentMs, doneMs } of writes) {
            if (syncs.some((ms) => ms >= sentMs - TOLERANCE_MS && ms <= doneMs + TOLERANCE_MS)) continue;
            unsynced += 1;
            failures.add(`${what} was acknowledged without a sync on ${name}`);
          }
        }
        return {
          "writes one after the other": writes.length,
          "nodes with a copy": names.length,
          "syncs of these nodes": syncsOfAll,
          "acknowledged without a sync on one of them": unsynced,
        };
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
}));

/** When each sync ended, in milliseconds since 1970. */
function syncTimesMs(trace: string): readonly number[] {
  return trace.split("\n").flatMap((line) => {
    const [, time, took] = SYNC_DONE.exec(line) ?? [];
    if (time === undefined) return [];
    return [1_000 * (Number(time) + (RESUMED.test(line) ? 0 : Number(took)))];
  });
}
