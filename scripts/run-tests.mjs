import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Runs vitest in `root` (with `args` passed on), shows its output, and closes with one line: how many tests passed and
 * failed. A test file that could not run counts as one failure. Resolves to the exit code.
 */
export async function runTests(root, args) {
  const folder = mkdtempSync(join(tmpdir(), "shoal-test-"));
  const report = join(folder, "report.json");
  try {
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const code = await end(
      spawn(
        process.execPath,
        [vitest, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...args],
        { cwd: root, stdio: "inherit" },
      ),
    );
    const { passed, failed, skipped } = count(report, code);
    console.log(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
    return failed === 0 && passed > 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function count(report, code) {
  let result;
  try {
    result = JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const brokenFiles = result.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  const failed = result.numFailedTests + brokenFiles.length;
  return {
    passed: result.numPassedTests,
    // A non-zero exit with no failed test is an error outside of any test, such as an unhandled rejection.
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: result.numPendingTests + result.numTodoTests,
  };
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
