import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Runs vitest in `root` (with `args` passed on), shows its output, and closes with the names of the tests that were
 * skipped, if any, and one line: how many tests passed and failed. Resolves to the exit code.
 */
export async function runTests(root, args) {
  const folder = mkdtempSync(join(tmpdir(), "shoal-test-"));
  const outcomeFile = join(folder, "outcome.json");
  try {
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const reporter = join(import.meta.dirname, "report-outcome.mjs");
    const code = await end(
      spawn(process.execPath, [vitest, "run", "--reporter=default", `--reporter=${reporter}`, ...args], {
        cwd: root,
        env: { ...process.env, SHOAL_TEST_OUTCOME: outcomeFile },
        stdio: "inherit",
      }),
    );
    const { passed, failed, skipped } = readOutcome(outcomeFile, code);
    if (skipped.length > 0) console.log(sentence(skipped));
    console.log(`${passed} passed, ${failed} failed${skipped.length === 0 ? "" : `, ${skipped.length} skipped`}`);
    return failed === 0 && passed > 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** No outcome, and a bad exit code without any failed test, count as one failure. */
function readOutcome(file, code) {
  let outcome;
  try {
    outcome = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { passed: 0, failed: 1, skipped: [] };
  }
  return outcome.failed === 0 && code !== 0 ? { ...outcome, failed: 1 } : outcome;
}

/** Names what did not run, so that nobody takes it for tested. */
function sentence(skipped) {
  return `Skipped, for want of what they need on this machine or by a filter: ${skipped.map((name) => `"${name}"`).join("; ")}.`;
}

/** The exit code; SIGINT and SIGTERM are passed on and waited for. */
function end(child) {
  const forward = (signal) => child.kill(signal);
  process.on("SIGINT", forward);
  process.on("SIGTERM", forward);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      process.off("SIGINT", forward);
      process.off("SIGTERM", forward);
      resolve(code ?? 1);
    });
  });
}
