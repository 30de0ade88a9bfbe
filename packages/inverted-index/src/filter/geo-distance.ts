import type { GeoRange } from "@shoal/model";

/** Metres; reference-graphql 5.3. */
const EARTH_RADIUS = 6_371_000;
const RADIANS = Math.PI / 180;
/** Degrees. */
const POLE = 90;
const TURN = 360;

/**
 * Whether places lie within a circle on the sphere: the great-circle distance by the haversine formula (R. W. Sinnott,
 * "Virtues of the Haversine", 1984), which stays exact for small distances, across the antimeridian and at the poles.
 * All coordinates count as the float32 they are stored as (reference-graphql 5.3), so that a place is no distance from
 * what was written as its coordinates: equal points, and those of a pole, are exactly 0 m apart.
 */
export class GeoCircle {
  /** Degrees of latitude that a place may differ, a little more than it can be. */
  readonly #latitudeSpan: number;
  readonly #latitude: number;
  readonly #longitude: number;
  readonly #cosine: number;
  readonly #distanceMax: number;

  constructor({ latitude, longitude, distanceMax }: GeoRange) {
    this.#latitude = Math.fround(latitude);
    this.#longitude = Math.fround(longitude);
    this.#cosine = Math.abs(this.#latitude) === POLE ? 0 : Math.cos(this.#latitude * RADIANS);
    this.#distanceMax = distanceMax;
    this.#latitudeSpan = (distanceMax / EARTH_RADIUS / RADIANS) * (1 + 1e-9) + 1e-6;
  }

  has(latitude: number, longitude: number): boolean {
    const isInRange = Math.abs(latitude) <= POLE;
    if (isInRange && Math.abs(Math.fround(latitude) - this.#latitude) > this.#latitudeSpan) return false;
    return this.distance(latitude, longitude) <= this.#distanceMax;
  }

  /** Metres. */
  distance(latitude: number, longitude: number): number {
    const single = Math.fround(latitude);
    const north = Math.sin(((single - this.#latitude) * RADIANS) / 2);
    // The remainder makes 360 degrees apart no distance, which the sine of pi would not.
    const east = Math.sin((((Math.fround(longitude) - this.#longitude) % TURN) * RADIANS) / 2);
    const haversine = north * north + this.#cosine * Math.cos(single * RADIANS) * east * east;
    return 2 * EARTH_RADIUS * Math.asin(Math.sqrt(Math.min(1, Math.max(0, haversine))));
  }
}
