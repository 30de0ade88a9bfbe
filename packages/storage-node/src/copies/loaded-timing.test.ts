import { TIMING } from "@shoal/replication";
import { expect, it } from "vitest";
import { loadedTiming } from "./loaded-timing.js";

it("waits longer for answers the more copies have something to do, within bounds; leases stay", () => {
  let busy = 0;
  const timing = loadedTiming(TIMING.leaseMs, () => busy);
  const seen = [0, 500, 1_000, 100_000].map((count) => {
    busy = count;
    const { responseMs, resendMs, leaseMs, silenceMs } = timing;
    return [responseMs / TIMING.responseMs, resendMs / TIMING.resendMs, leaseMs, silenceMs];
  });
  const { leaseMs, silenceMs } = TIMING;
  expect(seen).toEqual([1, 1, 2, 8].map((factor) => [factor, factor, leaseMs, silenceMs]));
});
