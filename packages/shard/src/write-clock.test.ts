import { describe, expect, it } from "vitest";
import { WriteClock } from "./write-clock.js";

describe("write clock", () => {
  it("is the clock in whole milliseconds while that goes forward", () => {
    let now = 10.7;
    const clock = new WriteClock(() => now, 0);
    expect([clock.next(), clock.next()]).toEqual([10, 10]);
    now = 12;
    expect(clock.next()).toBe(12);
  });

  it("goes on from the last time in use while the clock is behind", () => {
    let now = 50;
    const clock = new WriteClock(() => now, 100);
    expect([clock.next(), clock.next()]).toEqual([101, 102]);
    now = 500;
    expect(clock.next()).toBe(500);
  });
});
