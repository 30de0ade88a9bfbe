import { createHash } from "node:crypto";

/** Three classes whose objects point to the next one's: together so many objects. */
export const REFERENCE_LEVELS = [
  { className: "Journey", count: 40_000, links: 2 },
  { className: "Stage", count: 35_000, links: 1 },
  { className: "Inn", count: 25_000, links: 0 },
] as const;

export type ReferenceLevel = 0 | 1 | 2;

export function levelId(level: ReferenceLevel, index: number): string {
  const digest = createHash("md5").update(`level ${level} ${index}`).digest("hex");
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20)}`;
}

export function levelName(level: ReferenceLevel, index: number): string {
  return `${REFERENCE_LEVELS[level].className} ${index}`;
}

/** The objects of the next level that one points to, without pattern. */
export function linksOf(level: ReferenceLevel, index: number): readonly number[] {
  const next = REFERENCE_LEVELS[level + 1];
  if (next === undefined) return [];
  return Array.from(
    { length: REFERENCE_LEVELS[level].links },
    (_, link) => (index * 7_919 + link * 104_729) % next.count,
  );
}

/** The class of a level; its objects have no vectors. */
export function levelClass(level: ReferenceLevel): object {
  const next = REFERENCE_LEVELS[level + 1];
  return {
    class: REFERENCE_LEVELS[level].className,
    vectorIndexConfig: { skip: true },
    properties: [
      { name: "name", dataType: ["string"] },
      ...(next === undefined ? [] : [{ name: "leadsTo", dataType: [next.className] }]),
    ],
  };
}

export function levelObject(level: ReferenceLevel, index: number): object {
  const next = (level + 1) as ReferenceLevel;
  const leadsTo = linksOf(level, index).map((to) => ({ beacon: `svc://localhost/${levelId(next, to)}` }));
  return {
    class: REFERENCE_LEVELS[level].className,
    id: levelId(level, index),
    properties: { name: levelName(level, index), ...(leadsTo.length === 0 ? {} : { leadsTo }) },
  };
}
