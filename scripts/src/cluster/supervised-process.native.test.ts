import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ProcessLog } from "./process-log.js";
import { SupervisedProcess } from "./supervised-process.js";

let folder: string;
let running: SupervisedProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-supervised-"));
  running = [];
});
afterEach(() => {
  for (const one of running) one.kill();
  rmSync(folder, { recursive: true, force: true });
});

function supervise(script: string) {
  const pids: number[] = [];
  const file = join(folder, "script.cjs");
  writeFileSync(file, script);
  const logFile = join(folder, "log");
  let shown = "";
  const log = new ProcessLog("one", 5, logFile, (text) => {
    shown += text;
  });
  const supervised = new SupervisedProcess(
    { name: "one", command: [process.execPath, file], environment: { ...process.env, FOLDER: folder } },
    log,
    { onStarted: (pid) => pids.push(pid), onEnded: () => undefined },
  );
  running.push(supervised);
  supervised.start();
  return { supervised, pids, logged: () => readFileSync(logFile, "utf8"), shown: () => shown };
}

const LIVE = `console.log("up " + process.pid); setInterval(() => {}, 1000);`;

describe("SupervisedProcess", () => {
  it("comes back after a kill, with another pid, and prints into file and stream", async () => {
    const { supervised, pids, logged, shown } = supervise(LIVE);
    await vi.waitFor(() => expect(logged()).toContain(`up ${pids[0]}\n`), 60_000);
    process.kill(pids[0] ?? 0, "SIGKILL");
    await vi.waitFor(() => expect(logged()).toContain(`up ${pids[1]}\n`), 60_000);
    expect(pids[1]).not.toBe(pids[0]);
    expect(logged()).toContain("ended with SIGKILL; it is started again in 200 ms\n");
    expect(shown()).toContain(`one   | up ${pids[1]}\n`);
    expect(supervised.starts).toBe(2);
    supervised.kill();
  });

  it("waits longer each time for one that ends at once", async () => {
    const { logged } = supervise("process.exit(7)");
    await vi.waitFor(() => expect(logged()).toContain("exit code 7; it is started again in 800 ms"), 60_000);
    expect(logged().match(/again in (\d+) ms/g)).toEqual(["again in 200 ms", "again in 400 ms", "again in 800 ms"]);
  });

  it("ends with SIGTERM and does not come back; its exit code is told", async () => {
    const { supervised, pids, logged } = supervise(`${LIVE} process.on("SIGTERM", () => process.exit(3));`);
    await vi.waitFor(() => expect(logged()).toContain("up"), 60_000);
    expect(await supervised.stop(60_000)).toBe(3);
    expect(supervised.isRunning).toBe(false);
    expect(pids).toHaveLength(1);
  });

  it("is killed when it does not end", async () => {
    const { supervised, logged } = supervise(`process.on("SIGTERM", () => {}); ${LIVE}`);
    await vi.waitFor(() => expect(logged()).toContain("up"), 60_000);
    expect(await supervised.stop(100)).toBe(1);
    expect(logged()).toContain("is killed");
  });

  it("is killed with what it runs, as etcd behind end-with-parent", async () => {
    const inner = `console.log("inner " + process.pid); setInterval(() => {}, 1000);`;
    const { supervised, logged } = supervise(
      `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(inner)}], { stdio: "inherit" });`,
    );
    await vi.waitFor(() => expect(logged()).toMatch(/inner \d+/), 60_000);
    const pid = Number(/inner (\d+)/.exec(logged())?.[1]);
    supervised.kill();
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), 10_000);
  });
});
