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

describe.runIf(process.platform === "linux")("a process on this system (needs Linux)", () => {
  it("has CPU time that grows with its work, as process.cpuUsage says", () => {
    const before = cpuMicros([process.pid]);
    const usageBefore = process.cpuUsage();
    const spent = () => process.cpuUsage(usageBefore).user + process.cpuUsage(usageBefore).system;
    while (spent() < 300_000) for (let step = 0; step < 100_000; step++) Math.sqrt(Math.random());
    const used = cpuMicros([process.pid]) - before;
    expect(Math.abs(used - spent())).toBeLessThan(60_000);
  });

  it("has resident memory, and several add up", () => {
    expect(residentMb([process.pid])).toBeGreaterThan(20);
    expect(residentMb([process.pid, process.pid])).toBeGreaterThan(1.8 * residentMb([process.pid]));
    expect(() => cpuMicros([2 ** 30])).toThrow(expect.objectContaining({ code: "notFound" }));
  });
});

describe("waitUntilIdle", () => {
  const criterion = { quietMs: 300, cpuMicrosMax: 20_000, timeoutMs: 2000 };

  it("waits until a whole quiet time has passed with little work, a pause of the work aside", async () => {
    const perPoll = [80, 80, 2, 2, 90, 80, 19, 1, 1, 0, 0, 0];
    let used = 0;
    let polls = 0;
    await waitUntilIdle([], criterion, () => {
      used += (perPoll[polls++] ?? 0) * 1000;
      return used;
    });
    // 19 + 1 + 1 ms across three polls are too much, 1 + 1 + 0 are quiet.
    expect(polls).toBe(10);
  });

  it("gives up on a process that never rests", async () => {
    let used = 0;
    const busy = waitUntilIdle([], { ...criterion, timeoutMs: 500 }, () => (used += 50_000));
    await expect(busy).rejects.toMatchObject({ code: "deadlineExceeded" });
  });
});
