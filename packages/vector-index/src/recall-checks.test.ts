import type { MeasuredRecall } from "@shoal/model";
import {
  type ChosenRows,
  type NativeVectorIndex,
  NOT_FOUND,
  type RecallProbe,
  type SearchEffort,
  STAGES,
} from "@shoal/native";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Calibration } from "./calibration.js";
import { RecallCalibration } from "./recall-calibration.js";

const DIMENSIONS = 4;
const PROBE_MS = 25;
const HOUR_MS = 3_600_000;

/** An index whose queries need so many candidates each; a probe of it takes its time by the clock of the test. */
class FakeIndex {
  nowMs = 0;
  probes = 0;
  rows = 1_000_000;
  effort: SearchEffort | undefined;

  constructor(readonly needed: (probe: number) => number) {}

  setEffort(effort: SearchEffort): void {
    this.effort = effort;
  }

  counts() {
    return {
      ...{ live: this.rows, unindexed: 0, tombstones: 0 },
      ...{ rows: this.rows, linked: this.rows, memoryBytes: 0 },
    };
  }

  async probe(candidates: Uint32Array, queries: Float32Array | ChosenRows): Promise<RecallProbe[]> {
    const count = queries instanceof Float32Array ? queries.length / DIMENSIONS : queries.rows;
    return Array.from({ length: count }, () => this.#probe(candidates));
  }

  #probe(candidates: Uint32Array): RecallProbe {
    this.nowMs += PROBE_MS;
    const needed = this.needed(this.probes++);
    const takes = needed <= (candidates.at(-1) ?? 0) ? needed : NOT_FOUND;
    const walk = (results: number) => ({
      needed: new Uint32Array(results).fill(takes),
      contrasts: Float32Array.from(STAGES, () => 0.7),
      tenths: Float32Array.from(STAGES, () => 0.3),
    });
    const measured = Uint32Array.from(candidates, (number) => 20 * number);
    return { linked: this.rows, all: walk(100), quarter: walk(10), measured };
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
    ...{ target: 0.98, recall: 0.98, error: 0.002, candidates, sample: 512, queries: "asked" },
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
    await restOf(index);
  }
}

/** What it has begun ends: a fit takes some hundred iterations after its probes. */
async function restOf(index: FakeIndex, iterations = 20): Promise<void> {
  let seen = index.probes;
  for (let quiet = 0, most = iterations; quiet < most; quiet++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (index.probes === seen) continue;
    seen = index.probes;
    quiet = 0;
    most = 1_000;
  }
}

describe("recall during an import (F17, H7)", () => {
  afterEach(() => vi.useRealTimers());

  it("is measured in full when the import has ended, however well links keep up with it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const index = new FakeIndex(() => 40);
    const calibration = new RecallCalibration(
      index as unknown as NativeVectorIndex,
      DIMENSIONS,
      0.98,
      () => index.nowMs,
    );
    const samples: number[] = [];
    const onMeasured = ({ sample }: MeasuredRecall): void => void samples.push(sample);
    index.rows = 500;
    calibration.configure({ targetRecall: 0.98, ef: -1, onMeasured });
    const look = async (): Promise<void> => {
      await vi.advanceTimersByTimeAsync(250);
      await restOf(index, 1_000);
    };
    // 2,000 rows a second up to 60,000.
    for (; index.rows < 60_000; index.rows += 500) {
      calibration.changed();
      await look();
    }
    expect(samples.length).toBeGreaterThan(3);
    expect(samples.length).toBeLessThan(10);
    expect(new Set(samples)).toEqual(new Set([48]));
    await look();
    await look();
    expect(samples.at(-1)).toBe(256);
    calibration.close();
  });
});

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
    // Nothing was measured again: the effort is the restored one.
    expect(calibration.latest?.candidates).toBe(1_000);
  });
});
