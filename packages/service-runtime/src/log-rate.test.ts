import { describe, expect, it } from "vitest";
import { LOG_RATE, RateLimitedLogger } from "./log-rate.js";
import { type Logger, silentLogger } from "./logger.js";

function collect() {
  const lines: [string, object][] = [];
  const keep = (fields: object, message: string): void => void lines.push([message, fields]);
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };
  const clock = { ms: 0, now: () => clock.ms };
  return { lines, clock, limited: new RateLimitedLogger(logger, clock) };
}

describe("RateLimitedLogger", () => {
  it("writes a burst, then so many a minute, and says how many it left out", () => {
    const { lines, clock, limited } = collect();
    for (let i = 0; i < 1_000; i++) limited.warn({ i }, "refused");
    expect(lines.length).toBe(LOG_RATE.burstLines);
    expect(limited.leftOut).toBe(1_000 - LOG_RATE.burstLines);
    clock.ms += 1_000;
    limited.warn({}, "refused");
    expect(lines.at(-1)).toEqual(["refused", { leftOut: 1_000 - LOG_RATE.burstLines }]);
    for (let second = 0; second < 600; second++) {
      clock.ms += 1_000;
      for (let i = 0; i < 50; i++) limited.error({}, "refused");
    }
    expect(lines.length).toBeLessThanOrEqual(LOG_RATE.burstLines + 1 + 10 * LOG_RATE.linesPerMinute);
    expect(lines.length).toBeGreaterThan(10 * LOG_RATE.linesPerMinute - 5);
  });

  it("counts each message for itself, and leaves debug and info alone", () => {
    const { lines, limited } = collect();
    for (let i = 0; i < 100; i++) limited.warn({}, "one");
    limited.error({}, "other");
    for (let i = 0; i < 100; i++) limited.info({}, "one");
    expect(lines.length).toBe(LOG_RATE.burstLines + 1 + 100);
    const before = lines.length;
    // Messages that are not constant after all share one allowance in the end.
    for (let i = 0; i < 10_000; i++) limited.warn({}, `message ${i}`);
    expect(lines.length - before).toBeLessThan(256 + LOG_RATE.burstLines + 1);
  });

  it("gives nothing when the clock is set back, and asks the logger which levels it writes", () => {
    const { lines, clock, limited } = collect();
    clock.ms = 1_000_000;
    for (let i = 0; i < 100; i++) limited.warn({}, "x");
    clock.ms = 0;
    limited.warn({}, "x");
    expect(lines.length).toBe(LOG_RATE.burstLines);
    expect(limited.isEnabled("debug")).toBe(true);
    expect(new RateLimitedLogger(silentLogger, clock).isEnabled("error")).toBe(false);
  });
});
