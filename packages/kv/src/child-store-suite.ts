import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** Compiles this package: a child process runs the compiled files. */
export function buildForChildren(): void {
  execFileSync(`${repository}node_modules/.bin/tsc`, ["-b", `${repository}packages/kv`], { stdio: "pipe" });
}

/** A child process that runs `script` (a module) with `openRocksStore` and `put(key, value)` at hand. */
export function startChild(script: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
  const door = new URL("../dist/index.js", import.meta.url).href;
  const module = `
    import * as fs from "node:fs";
    import { endAfterStoreFailure, openRocksStore } from ${JSON.stringify(door)};
    const put = (key, value) => ({ type: "put", key: Buffer.from(key), value: Buffer.from(value) });
    ${script}`;
  return spawn(process.execPath, ["--input-type=module", "-e", module], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Waits for the end of the child; `onOutput` sees what it has printed so far. */
export function childEnd(child: ChildProcess, onOutput: (stdout: string) => void = () => {}): Promise<ChildEnd> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (part) => {
    stdout += part;
    onOutput(stdout);
  });
  child.stderr?.on("data", (part) => {
    stderr += part;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
