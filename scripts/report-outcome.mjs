import { writeFileSync } from "node:fs";

/**
 * A reporter for vitest: writes the outcome of a run as JSON to the file that `SHOAL_TEST_OUTCOME` names:
 * `{ passed, failed, skipped }`, the first two as counts, the last one as names. A test file that could not run and an
 * error outside of any test count as one failure each.
 */
export default class OutcomeReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const outcome = { passed: 0, failed: unhandledErrors.length, skipped: [] };
    for (const module of modules) {
      let failedTests = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") outcome.passed += 1;
        else if (state === "failed") failedTests += 1;
        else outcome.skipped.push(test.fullName);
      }
      outcome.failed += failedTests === 0 && module.state() === "failed" ? 1 : failedTests;
    }
    writeFileSync(process.env.SHOAL_TEST_OUTCOME, JSON.stringify(outcome));
  }
}
