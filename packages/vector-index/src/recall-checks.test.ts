import { type NativeVectorIndex, NOT_FOUND, type RecallProbe, type SearchEffort, STAGES } from "@shoal/native";
import { describe, expect, it } from "vitest";
import type { Calibration } from "./calibration.js";
import { RecallCalibration } from "./recall-calibration.js";

const DIMENSIONS = 4;
const PROBE_MS = 25;
const HOUR_MS = 3_600_000;

/** An index whose queries need so many candidates each; a probe of it takes its time by the clock of the test. */
class FakeIndex {
  nowMs = 0;
  probes = 0;
  effort: SearchEffort | undefined;

  constructor(readonly needed: (probe: number) => number) {}

  setEffort(effort: SearchEffort): void {
    this.effort = effort;
  }

  counts() {
    return {
      ...{ live: 1_000_000, tail: 0, tombstones: 0 },
      ...{ rows: 1_000_000, linked: 1_000_000, memoryBytes: 0 },
    };
  }

  async probe(candidates: Uint32Array): Promise<RecallProbe> {
    this.nowMs += PROBE_MS;
    const needed = this.needed(this.probes++);
    const takes = needed <= (candidates.at(-1) ?? 0) ? needed : NOT_FOUND;
    const walk = (results: number) => ({
      needed: new Uint32Array(results).fill(takes),
      contrasts: Float32Array.from(STAGES, () => 0.7),
      tenths: Float32Array.from(STAGES, () => 0.3),
    });
    const measured = Uint32Array.from(candidates, (number) => 20 * number);
    return { linked: 1_000_000, all: walk(100), quarter: walk(10), measured };
  }
}

function effortOf(candidates: number): SearchEffort {
  const knots = [
    { contrast: 0.7, candidates },
    { contrast: 0.85, candidates: 4 * candidates },
  ];
  return {
    ...{ stage: 16, knots, ofOne: 1, ofHundred: 1, ofQuarter: 1 },
    ...{ farthest: 1, distances: 20 * candidates, exact: false },
  };
}

function calibrated(index: FakeIndex, candidates: number): RecallCalibration {
  const native = index as unknown as NativeVectorIndex;
  const calibration = new RecallCalibration(native, DIMENSIONS, 0.98, () => index.nowMs);
  calibration.configure({ targetRecall: 0.98, ef: -1 });
  const restored: Calibration = {
    ...{ target: 0.98, recall: 0.98, error: 0.002, candidates, sample: 256, queries: "asked" },
    ...{ linked: 1_000_000, measuredAtMs: 1, effort: effortOf(candidates) },
  };
  calibration.restore(restored);
  return calibration;
}

/** So many queries a second, for an hour. */
async function ask(index: FakeIndex, calibration: RecallCalibration, aSecond: number): Promise<void> {
  const query = new Float32Array(DIMENSIONS).fill(0.5);
  const end = index.nowMs + HOUR_MS;
  while (index.nowMs < end) {
    calibration.searched(query);
    index.nowMs += 1_000 / aSecond;
    // What it has begun ends before the next query: nothing comes of a probe for longer than a fit takes.
    for (let quiet = 0, seen = index.probes; quiet < 20; quiet++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (seen === 0 || index.probes === seen) continue;
      seen = index.probes;
      quiet = 0;
    }
  }
}

describe("looking at recall again (F17)", () => {
  for (const aSecond of [1, 5, 20]) {
    it(`takes a hundredth of a thread where the target cannot be reached, at ${aSecond} queries a second`, async () => {
      const index = new FakeIndex((probe) => (probe % 5 === 0 ? 100_000 : 40));
      const calibration = calibrated(index, 300);
      await ask(index, calibration, aSecond);
      calibration.close();
      expect(index.probes).toBeGreaterThan(48);
      // One look with a measurement of two samples may have begun at the end of the hour.
      expect(index.probes * PROBE_MS).toBeLessThan(HOUR_MS / 100 + 16_000);
    });
  }

  it("sees what an effort finds that came from longer walks", async () => {
    const index = new FakeIndex((probe) => (probe % 20 === 0 ? 100_000 : 900));
    const calibration = calibrated(index, 1_000);
    await ask(index, calibration, 1);
    calibration.close();
    // Nothing was measured anew: the effort is the restored one.
    expect(calibration.latest?.candidates).toBe(1_000);
  });
});
