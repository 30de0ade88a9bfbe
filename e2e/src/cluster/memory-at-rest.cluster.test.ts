import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { withCluster } from "./cluster.js";

const MIB = 1024 * 1024;
const DEADLINE_MS = 60_000;
const ANSWERS = 24;
const ROWS = 2_000;

/** Bytes in memory that belong to no file. */
function anonymousBytes(pid: number): number {
  const kib = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) * 1024;
}

const onLinux = it.skipIf(process.platform !== "linux");

onLinux(
  "H11: a gateway gives back what large answers left behind (needs Linux)",
  { timeout: DEADLINE_MS },
  async () => {
    await withCluster({ gateways: 1, storageNodes: 1, etcdMembers: 0 }, async ({ http, gateways }) => {
      const properties = { text: "x".repeat(8_000) };
      const objects = Array.from({ length: ROWS }, (_, at) => ({ class: "Long", properties, vector: [at, 1] }));
      await http.post("/v1/schema", { class: "Long", properties: [{ name: "text", dataType: ["text"] }] });
      for (let at = 0; at < ROWS; at += 500) {
        expect((await http.post("/v1/batch/objects", { objects: objects.slice(at, at + 500) })).status).toBe(200);
      }
      const pid = gateways[0]?.pid ?? 0;
      const list = `/v1/objects?class=Long&limit=${ROWS}`;
      const answers = await Promise.all(Array.from({ length: ANSWERS }, () => http.get(list)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      const busy = anonymousBytes(pid);
      while (anonymousBytes(pid) > Math.max(busy / 2, 150 * MIB)) await sleep(200);
      expect((await http.get("/v1/.well-known/ready")).status).toBe(200);
    });
  },
);
