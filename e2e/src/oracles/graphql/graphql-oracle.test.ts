import { expect, it } from "vitest";
import { testSeed } from "../../random-objects.js";
import { QUESTION_KINDS } from "./make-question.js";
import { startOneProcess } from "./oracle-server.js";
import { runOracle } from "./run-oracle.js";

/** One schema after the other; the long form is `npm run oracle`. */
const QUERIES = 600;

// covers: decisions/both/reference-bugs
it("random GraphQL queries are answered as a plain loop over all objects answers them", async () => {
  const seed = testSeed();
  const report = await runOracle({
    seed,
    queries: QUERIES,
    kinds: QUESTION_KINDS,
    findingsMax: 3,
    start: startOneProcess,
    say: () => {},
  });
  expect(report.findings.join("\n"), `seed ${seed}`).toBe("");
  const asked = [...report.asked.values()].reduce((sum, count) => sum + count, 0);
  expect(asked).toBeGreaterThan(0.9 * QUERIES);
  expect([...report.asked.keys()].sort()).toEqual([...QUESTION_KINDS].sort());
});
