import { expect, it } from "vitest";
import { lacks } from "../needs.js";
import { QUESTION_KINDS } from "../oracles/graphql/make-question.js";
import { runOracle } from "../oracles/graphql/run-oracle.js";
import { testSeed } from "../random-objects.js";
import { startOracleCluster } from "./cluster-oracle.js";

/** One schema; the long form is `npm run oracle -- --target cluster`. */
const QUERIES = 300;

it.skipIf(lacks("etcd"))(
  "random GraphQL queries are answered by a cluster as a plain loop over all objects answers them (needs etcd)",
  async () => {
    const seed = testSeed();
    const { findings, asked } = await runOracle({
      seed,
      queries: QUERIES,
      kinds: QUESTION_KINDS,
      findingsMax: 3,
      start: startOracleCluster,
      say: () => {},
    });
    expect(findings.join("\n"), `seed ${seed}`).toBe("");
    const count = [...asked.values()].reduce((sum, one) => sum + one, 0);
    expect(count).toBeGreaterThan(0.9 * QUERIES);
  },
);
