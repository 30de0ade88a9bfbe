import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../server-process.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

let dataPath: string;
beforeAll(async () => {
  dataPath = await mkdtemp(join(tmpdir(), "shoal-launcher-"));
});
afterAll(() => rm(dataPath, { recursive: true, force: true }));

async function until200(url: string, child: ChildProcess): Promise<void> {
  for (let i = 0; i < 3_000; i++) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`);
    const status = await fetch(url).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("not ready");
}

describe("npm start", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "serves where HOST and PORT say, and %s to npm ends all of it with exit code 0",
    async (signal) => {
      const port = await freePort();
      const child = spawn("npm", ["start"], {
        cwd: ROOT,
        env: { ...process.env, PORT: String(port), PERSISTENCE_DATA_PATH: dataPath },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      child.stdout.on("data", (chunk) => {
        output += chunk;
      });
      const ended = new Promise<readonly [number | null, string | null]>((resolve) =>
        child.on("close", (code, by) => resolve([code, by])),
      );
      await until200(`http://127.0.0.1:${port}/v1/.well-known/ready`, child);
      expect(output).toContain(`http://127.0.0.1:${port}`);
      child.kill(signal);
      expect(await ended).toEqual([0, null]);
      await expect(fetch(`http://127.0.0.1:${port}/v1/meta`)).rejects.toThrow();
    },
  );
});
