import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { cpuMicros, parseCpuMicros, parseResidentMb, residentMb, waitUntilIdle } from "./process-usage.js";

// From proc(5): utime is field 14, stime field 15, counted from 1; the command may hold anything.
const STAT =
  "4242 (node) 1) S (x) S 1 4242 4242 0 -1 4194304 30210 11 0 0 1234 56 7 8 20 0 11 0 123456 1000000 5000 184467";

describe("parseCpuMicros", () => {
  it("adds user and system time, whatever the command is called", () => {
    expect(parseCpuMicros(STAT)).toBe((1234 + 56) * 10_000);
  });

  it("refuses what has no times", () => {
    expect(() => parseCpuMicros("4242 (node) S 1 2 3")).toThrow(expect.objectContaining({ code: "malformed" }));
  });
});

describe("parseResidentMb", () => {
  it("reads VmRSS and nothing alike", () => {
    expect(parseResidentMb("Name:\tVmRSS\nVmHWM:\t  999999 kB\nVmRSS:\t  204800 kB\nRssAnon:\t 1 kB\n")).toBe(200);
    expect(() => parseResidentMb("Name:\tkthread\n")).toThrow(expect.objectContaining({ code: "malformed" }));
  });
});

describe.runIf(process.platform === "linux")("a process on this system", () => {
  it("has CPU time that grows with its work, as process.cpuUsage says", () => {
    const before = cpuMicros([process.pid]);
    const usageBefore = process.cpuUsage();
    const until = performance.now() + 400;
    while (performance.now() < until) Math.sqrt(Math.random());
    const { user, system } = process.cpuUsage(usageBefore);
    const used = cpuMicros([process.pid]) - before;
    expect(used).toBeGreaterThan(100_000);
    expect(Math.abs(used - user - system)).toBeLessThan(60_000);
  });

  it("has resident memory, and several add up", () => {
    expect(residentMb([process.pid])).toBeGreaterThan(20);
    expect(residentMb([process.pid, process.pid])).toBeGreaterThan(1.8 * residentMb([process.pid]));
    expect(() => cpuMicros([2 ** 30])).toThrow(expect.objectContaining({ code: "notFound" }));
  });

  it("is idle only after its work", async () => {
    let working = true;
    const work = (async () => {
      for (let round = 0; round < 8; round++) {
        const until = performance.now() + 50;
        while (performance.now() < until) Math.sqrt(Math.random());
        await sleep(1);
      }
      working = false;
    })();
    await waitUntilIdle([process.pid], { quietMs: 200, cpuMicrosMax: 50_000, timeoutMs: 20_000 });
    expect(working).toBe(false);
    await work;
    const criterion = { quietMs: 100, cpuMicrosMax: -1, timeoutMs: 300 };
    await expect(waitUntilIdle([process.pid], criterion)).rejects.toMatchObject({ code: "deadlineExceeded" });
  });
});
