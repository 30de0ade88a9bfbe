import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { canonicalDate, dateInstant, isDate, nanosecondsOf } from "./date-value.js";

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?(Z|[+-](\d{2}):(\d{2}))$/;

/** The same rule by another way: a regular expression, and the calendar of Date. */
function expectedDate(text: string): string | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year = "", month, day, hour, minute, second, fraction = "", zone, zoneHour, zoneMinute] = match;
  // 400 years later the calendar is the same, and no year is below 100, which Date takes for another one.
  const date = new Date(Date.UTC(Number(year) + 400, Number(month) - 1, Number(day)));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (zone !== "Z" && (Number(zoneHour) > 23 || Number(zoneMinute) > 59)) return undefined;
  const kept = fraction.slice(0, 10).replace(/\.?0*$/, "");
  return `${text.slice(0, 19)}${kept}${zoneHour === "00" && zoneMinute === "00" ? "Z" : zone}`;
}

/** Nanoseconds by another way: Date's own parser, which knows milliseconds, and the fraction beside it. */
function expectedInstant(text: string): bigint {
  const [, fraction = "", zone = ""] = /^.{19}(?:\.(\d+))?(.*)$/.exec(text) ?? [];
  return BigInt(Date.parse(text.slice(0, 19) + zone)) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}

describe("dates", () => {
  const seed = Number(process.env.MODEL_SEED) || 17;

  it(`are those of RFC 3339, seed ${seed}`, () => {
    const random = seededRandom(seed).below;
    const two = (below: number) => String(random(below)).padStart(2, "0");
    let dates = 0;
    for (let round = 0; round < 30_000; round++) {
      const year = ["2000", "1900", "2023", "2024", "0000", "9999"][random(6)];
      const fraction = ["", "", ".5", ".500", ".000", ".123456789987", ".1234567890", "."][random(8)];
      const zone = ["Z", "Z", "+00:00", "-00:00", "+01:30", "-23:59", "+24:00", "+00:60", "z", "", "+0100"][random(11)];
      let text = `${year}-${two(14)}-${two(33)}T${two(25)}:${two(61)}:${two(61)}${fraction}${zone}`;
      const at = random(text.length);
      const odd = [":", "/", "-", "T", " ", "9", "é", "."][random(8)];
      if (random(3) === 0) text = text.slice(0, at) + odd + text.slice(at + random(2));
      else if (random(8) === 0) text = text.slice(0, at);
      const expected = expectedDate(text);
      if (expected !== undefined) dates += 1;
      expect(canonicalDate(text), text).toBe(expected);
      expect(isDate(text), text).toBe(expected !== undefined);
      const instant = dateInstant(text);
      expect(instant && nanosecondsOf(instant), text).toBe(expected && expectedInstant(text));
      if (expected !== undefined) expect(dateInstant(expected), text).toEqual(instant);
    }
    expect(dates).toBeGreaterThan(1_000);
  });
});
