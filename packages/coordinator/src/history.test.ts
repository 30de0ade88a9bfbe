import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { ForgetfulMetaStore, SharedMeta } from "./testing/forgetful-meta-store.js";
import { recordHistory } from "./testing/record-history.js";
import { verifyHistory } from "./testing/verify-history.js";

describe("several coordinators on one store", () => {
  test.each([0, 0.05, 0.25])("make one line of changes, with faults at a rate of %d", async (faultRate) => {
    let commits = 0;
    for (let seed = 1; seed <= 8; seed++) {
      const random = seededRandom(seed * 1_000 + faultRate * 100).next;
      const shared = new SharedMeta();
      const stores = Array.from({ length: 4 + (seed % 5) }, () => new ForgetfulMetaStore(shared, random, faultRate));
      const history = await recordHistory(stores, random, { workers: 3, steps: 10 });
      verifyHistory(history, shared.commits, `seed ${seed}, faults ${faultRate}`);
      commits += shared.commits.length;
    }
    expect(commits).toBeGreaterThan(100);
  });
});
