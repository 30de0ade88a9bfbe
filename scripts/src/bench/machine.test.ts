import { expect, it } from "vitest";
import { parseProcessorTimes, processorTimes, stolenShare } from "./machine.js";

// From proc(5): the times of all processors stand in the first line; those of guests are in user and nice already.
const STAT = "cpu  4674106 174843 546586 2240138 26571 5 30353 196862 7 9\ncpu0 1 2 3 4 5 6 7 8 9 10\n";

it("tells what a host took of the processors", () => {
  const before = parseProcessorTimes(STAT);
  expect(before).toEqual({ all: 4674106 + 174843 + 546586 + 2240138 + 26571 + 5 + 30353 + 196862, stolen: 196862 });
  expect(stolenShare(before, { all: before.all + 200, stolen: before.stolen + 50 })).toBe(0.25);
  expect(stolenShare(before, before)).toBe(0);
});

it("reads the times of this machine", () => {
  expect(processorTimes().all > 0).toBe(process.platform === "linux");
});
