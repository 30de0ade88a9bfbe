import { spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readText, root } from "./source-tree.js";

const SECONDS_MAX = 45 * 60;

/** The seconds that each step may take, by its name. */
const budgets = new Map(
  readText(".ci/budgets")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(/\s+/) as [string, string]),
);

describe("the budgets of CI", () => {
  it("are those of the steps that it has", () => {
    const checks = readdirSync(join(root, "scripts", "checks")).map((name) => name.replace(".sh", ""));
    expect([...budgets.keys()].sort()).toEqual(["software", "test", ...checks].sort());
  });

  it("are less than 45 minutes together", () => {
    const seconds = [...budgets.values()].map(Number);
    for (const one of seconds) expect(one).toBeGreaterThan(0);
    expect(seconds.reduce((sum, one) => sum + one)).toBeLessThan(SECONDS_MAX);
  });
});

describe(".ci/run", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "shoal-ci-run-"));
    for (const name of [".ci", "bin", "scripts/checks"]) mkdirSync(join(folder, name), { recursive: true });
    cpSync(join(root, ".ci", "run"), join(folder, ".ci", "run"));
    writeFileSync(join(folder, "clock"), "0");
    // A clock that stands still unless a step moves it.
    stub("bin/date", 'cat "$(dirname "$0")/../clock"');
    stub("bin/npm", "echo '5 passed, 0 failed'");
    stub("scripts/install-check-software.sh", "exit 0");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function stub(path: string, script: string): void {
    writeFileSync(join(folder, path), `#!/usr/bin/env bash\n${script}\n`);
    chmodSync(join(folder, path), 0o755);
  }

  /** Runs it with checks of these names; each has a budget of ten seconds unless it is given another one. */
  async function run(checks: Readonly<Record<string, string>>, given: Readonly<Record<string, string>> = {}) {
    for (const [name, script] of Object.entries(checks)) stub(`scripts/checks/${name}.sh`, script);
    const lines = ["software", "test", ...Object.keys(checks)].map((name) => `${name} ${given[name] ?? "10"}\n`);
    writeFileSync(join(folder, ".ci", "budgets"), `# seconds\n${lines.join("")}`);
    const child = spawn("bash", [join(folder, ".ci", "run")], {
      env: { ...process.env, PATH: `${join(folder, "bin")}:${process.env.PATH}` },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += String(chunk)));
    const code = await new Promise((resolve) => child.on("close", resolve));
    return { code, said, last: said.trimEnd().split("\n").at(-1) };
  }

  const warnings = (said: string): readonly string[] => said.match(/^WARNING: .*$/gm) ?? [];

  it("adds up what its steps say, and tells what each took", async () => {
    const { code, said, last } = await run({
      one: "echo 7 >clock; echo 'what it does'; echo '2 passed, 0 failed, 1 skipped'",
      two: "echo '3 passed, 0 failed'",
    });
    expect(last).toBe("10 passed, 0 failed");
    expect(code).toBe(0);
    expect(said).toContain("what it does");
    const table = said.slice(said.indexOf("\nstep ")).trim().split("\n");
    expect(table.slice(0, 5).map((line) => line.split(/\s+/))).toEqual([
      ["step", "seconds", "budget"],
      ["software", "0", "10"],
      ["test", "0", "10"],
      ["one", "7", "10"],
      ["two", "0", "10"],
    ]);
    expect(warnings(said)).toEqual([]);
  });

  it("names what needs longer than its budget, and does not fail for that", async () => {
    const { code, said, last } = await run({ slow: "echo 11 >clock; echo '1 passed, 0 failed'" });
    expect(warnings(said)).toEqual(["WARNING: slow took 11 s, and its budget is 10 s"]);
    expect(last).toBe("6 passed, 0 failed");
    expect(code).toBe(0);
  });

  it("ends what hangs, names it, and goes on", async () => {
    const { code, said, last } = await run({ hangs: "sleep 1000", next: "echo '1 passed, 0 failed'" }, { hangs: "1" });
    expect(warnings(said)).toEqual(["WARNING: hangs hung, and was ended after 0 s"]);
    expect(last).toBe("6 passed, 1 failed");
    expect(code).toBe(1);
  });

  it("does not wait for what a step has left behind", async () => {
    const left = join(folder, "left");
    // It holds the step's output open for as long as the file is there.
    const leaves = `touch ${left}; setsid bash -c 'while [ -e ${left} ]; do sleep 0.1; done' & echo '1 passed, 0 failed'`;
    const { code, last } = await run({ leaves });
    expect(last).toBe("6 passed, 0 failed");
    expect(code).toBe(0);
  });

  it("fails when a step says that something failed, ends badly, says nothing, or has no budget", async () => {
    const { code, said, last } = await run(
      {
        failing: "echo '1 passed, 2 failed'; exit 1",
        crashing: "echo '1 passed, 0 failed'; exit 3",
        silent: "exit 0",
        unknown: "echo '1 passed, 0 failed'",
      },
      { unknown: "" },
    );
    expect(last).toBe("7 passed, 5 failed");
    expect(code).toBe(1);
    expect(said).toContain("== failed with exit code 3: crashing");
    expect(said).toContain("== failed: .ci/budgets has no budget for unknown");
  });
});
