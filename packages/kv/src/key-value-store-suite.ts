import { afterEach, describe } from "vitest";
import { describeDamage } from "./damage-suite.js";
import { describeReadsAndWrites } from "./reads-and-writes-suite.js";
import { describeScans } from "./scans-suite.js";
import { describeOracle } from "./sorted-map-oracle-suite.js";
import type { StoreUnderTest } from "./store-under-test-suite.js";

export type { StoreUnderTest } from "./store-under-test-suite.js";

/** What every `KeyValueStore` promises. `open` gives a new, empty store for each test. */
export function describeKeyValueStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(name, () => {
    let opened: StoreUnderTest[] = [];
    const openStore = async () => {
      const one = await open();
      opened.push(one);
      return one;
    };
    afterEach(async () => {
      const all = opened;
      opened = [];
      for (const one of all) await one.dispose();
    });
    describeReadsAndWrites(openStore);
    describeScans(openStore);
    describeDamage(openStore);
    describeOracle(openStore);
  });
}
