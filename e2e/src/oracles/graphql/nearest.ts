import { About } from "./question.js";
import { cosineDistance } from "./value-rules.js";
import { Undecided, type WorldObject } from "./world.js";

/** What float32 may change in a distance. */
export const DISTANCE_ERROR = 1e-5;

export interface Ranked {
  readonly object: WorldObject;
  readonly distance: number;
}

/** Nearest first, equal ones by id. */
export function ranked(objects: readonly WorldObject[], vector: readonly number[]): readonly Ranked[] {
  return objects
    .map((object) => ({ object, distance: cosineDistance(object.vector, vector) }))
    .sort((a, b) => a.distance - b.distance || (a.object.id < b.object.id ? -1 : 1));
}

/** What stays of a page of hits: at least so certain. */
export function certainEnough(page: readonly Ranked[], certainty: number | undefined): readonly Ranked[] {
  if (certainty === undefined) return page;
  return page.filter(({ distance }) => {
    const margin = 1 - distance / 2 - certainty;
    if (Math.abs(margin) < DISTANCE_ERROR) throw new Undecided(`a certainty of ${certainty + margin}`);
    return margin > 0;
  });
}

export function shownCertainty(distance: number): About {
  return new About(1 - distance / 2, DISTANCE_ERROR);
}

/**
 * What is wrong with the ids of a page: they must be as near as those that brute force finds, place by place. Hits that
 * rounding may swap can change places; those with the very same vector stand in the order of their ids.
 */
export function faultOfPage(
  all: readonly Ranked[],
  expected: readonly Ranked[],
  ids: readonly string[],
): string | undefined {
  if (ids.length !== expected.length) return `${ids.length} hits, not ${expected.length}`;
  if (new Set(ids).size !== ids.length) return `a hit comes twice: ${ids.join(" ")}`;
  const byId = new Map(all.map((one) => [one.object.id, one]));
  for (const [place, id] of ids.entries()) {
    const hit = byId.get(id);
    const wanted = expected[place];
    if (hit === undefined || wanted === undefined) return `${id} may not be a hit`;
    if (Math.abs(hit.distance - wanted.distance) > DISTANCE_ERROR) {
      return `hit ${place} is ${id} in distance ${hit.distance}; ${wanted.object.id} is in ${wanted.distance}`;
    }
    const before = byId.get(ids[place - 1] ?? "");
    if (before !== undefined && id < before.object.id && hit.object.vector.join() === before.object.vector.join()) {
      return `hits ${place - 1} and ${place} have one vector and are not in the order of their ids`;
    }
  }
  return undefined;
}

/** Throws when rounding could change which hits stand on the page, or their order. */
export function checkDecided(all: readonly Ranked[], from: number, to: number): void {
  for (let place = Math.max(1, from); place <= Math.min(to, all.length - 1); place++) {
    const [a, b] = [all[place - 1], all[place]];
    if (a === undefined || b === undefined || b.distance - a.distance > DISTANCE_ERROR) continue;
    if (a.object.vector.join() !== b.object.vector.join()) throw new Undecided("hits of nearly the same distance");
  }
}
