import type { GeoRange } from "@shoal/model";

/** Metres; reference-graphql 5.3. */
const EARTH_RADIUS = 6_371_000;
const RADIANS = Math.PI / 180;

/**
 * Whether places lie within a circle on the sphere: the great-circle distance by the haversine formula (R. W. Sinnott,
 * "Virtues of the Haversine", 1984), which stays exact for small distances, across the antimeridian and at the poles.
 */
export class GeoCircle {
  /** Degrees of latitude that a place may differ, a little more than it can be. */
  readonly #latitudeSpan: number;
  readonly #latitude: number;
  readonly #longitude: number;
  readonly #cosine: number;
  readonly #distanceMax: number;

  constructor({ latitude, longitude, distanceMax }: GeoRange) {
    this.#latitude = latitude;
    this.#longitude = longitude;
    this.#cosine = Math.cos(latitude * RADIANS);
    this.#distanceMax = distanceMax;
    this.#latitudeSpan = (distanceMax / EARTH_RADIUS / RADIANS) * (1 + 1e-9) + 1e-6;
  }

  has(latitude: number, longitude: number): boolean {
    const isInRange = Math.abs(latitude) <= 90;
    if (isInRange && Math.abs(latitude - this.#latitude) > this.#latitudeSpan) return false;
    return this.distance(latitude, longitude) <= this.#distanceMax;
  }

  /** Metres. */
  distance(latitude: number, longitude: number): number {
    const north = Math.sin(((latitude - this.#latitude) * RADIANS) / 2);
    const east = Math.sin(((longitude - this.#longitude) * RADIANS) / 2);
    const haversine = north * north + this.#cosine * Math.cos(latitude * RADIANS) * east * east;
    return 2 * EARTH_RADIUS * Math.asin(Math.sqrt(Math.min(1, Math.max(0, haversine))));
  }
}
