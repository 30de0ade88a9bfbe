import { expect, it } from "vitest";
import { threadLanes } from "./thread-lanes.js";

it.each([64, 128, 1024])(
  "of %d threads one disk leaves some to others for each purpose, and all disks some to the rest",
  (threads) => {
    const lanes = Object.values(threadLanes(threads));
    for (const { ofDisk, ofAll } of lanes) expect(ofDisk).toBeLessThan(ofAll);
    expect(lanes.reduce((sum, { ofAll }) => sum + ofAll, 0)).toBeLessThan(threads);
  },
);

it("of four threads, what writes to a disk leaves one to those who read", () => {
  const { diskWriters, snapshotWriters } = threadLanes(4);
  expect(diskWriters.ofAll + snapshotWriters.ofAll).toBeLessThan(4);
});
