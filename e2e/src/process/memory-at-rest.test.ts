import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { ServerProcess } from "../server-process.js";

const MIB = 1024 * 1024;
const DEADLINE_MS = 120_000;

/** Bytes in memory that belong to no file. */
function anonymousBytes(pid: number): number {
  const kib = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) * 1024;
}

it.skipIf(process.platform !== "linux")(
  "H11: a server that rests gives back what its start has left behind (needs Linux)",
  async () => {
    await using server = await ServerProcess.start({});
    const started = anonymousBytes(server.pid);
    // V8's part for new objects, and what only the start has used: some 11 MiB.
    while (started - anonymousBytes(server.pid) < 8 * MIB) await sleep(200);
    expect((await server.http.get("/v1/.well-known/ready")).status).toBe(200);
  },
  DEADLINE_MS,
);
