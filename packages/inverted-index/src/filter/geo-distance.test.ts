import { shortestFloat32 } from "@shoal/model";
import { plainDistance } from "@shoal/model/testing/plain-filter";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { GeoCircle } from "./geo-distance.js";

const DUESSELDORF = { latitude: 51.225555, longitude: 6.782778 };
const AMSTERDAM = { latitude: 52.366667, longitude: 4.9 };

describe("distance on the sphere", () => {
  it("is the one by vectors, near and far, at the poles and across the antimeridian", () => {
    const random = seededRandom(1);
    const degrees = (most: number) =>
      random.pick([0, most, -most, most - 1e-7, 1e-6, (random.below(2e9) / 1e9 - 1) * most]);
    for (let round = 0; round < 20_000; round++) {
      const from = { latitude: degrees(90), longitude: degrees(180) };
      const to = { latitude: degrees(90), longitude: degrees(180) };
      const expected = plainDistance(to.latitude, to.longitude, { ...from, distanceMax: 0 });
      const found = new GeoCircle({ ...from, distanceMax: 0 }).distance(to.latitude, to.longitude);
      expect(Math.abs(found - expected)).toBeLessThan(1e-3 + expected * 1e-7);
      // What the latitude alone rules out is out.
      if (expected > 1) expect(circle(from, expected * 1.001 + 1).has(to.latitude, to.longitude)).toBe(true);
      if (expected > 10) expect(circle(from, expected * 0.999 - 1).has(to.latitude, to.longitude)).toBe(false);
    }
  });

  it("is nothing between coordinates that are the same float32", () => {
    const random = seededRandom(2);
    const degrees = (most: number) => random.pick([most, -most, (random.below(2e9) / 1e9 - 1) * most]);
    for (let round = 0; round < 2_000; round++) {
      const written = { latitude: degrees(90), longitude: degrees(180) };
      for (const stored of [shortestFloat32, Math.fround]) {
        const [latitude, longitude] = [stored(written.latitude), stored(written.longitude)];
        expect(circle(written, 0).distance(latitude, longitude)).toBe(0);
        expect(circle(written, 0).has(latitude, longitude)).toBe(true);
        // The next float32 is another place.
        const north = latitude > 0 ? latitude * (1 - 2 ** -22) : latitude * (1 - 2 ** -22) + 1e-30;
        expect(circle(written, 0).has(north, longitude)).toBe(false);
      }
    }
    expect(circle({ latitude: 0, longitude: 180 }, 0).has(0, -180)).toBe(true);
    expect(circle({ latitude: -90, longitude: 12 }, 0).has(-90, 123)).toBe(true);
  });

  it("is in metres", () => {
    expect(circle(DUESSELDORF, 100_000).has(AMSTERDAM.latitude, AMSTERDAM.longitude)).toBe(false);
    expect(circle(DUESSELDORF, 200_000).has(AMSTERDAM.latitude, AMSTERDAM.longitude)).toBe(true);
    expect(circle({ latitude: 0, longitude: 0 }, 20).has(0, 0)).toBe(true);
    expect(circle({ latitude: 0, longitude: 0 }, 0).has(0, 0)).toBe(true);
    expect(circle({ latitude: 0, longitude: 179.9999 }, 30).has(0, -179.9999)).toBe(true);
    expect(circle({ latitude: 90, longitude: 0 }, 0.01).has(90, 123)).toBe(true);
  });
});

function circle(centre: { latitude: number; longitude: number }, distanceMax: number): GeoCircle {
  return new GeoCircle({ ...centre, distanceMax });
}
