import { seededRandom } from "@shoal/seeded-random";
import { expect, test } from "vitest";
import { FirstEntries } from "./first-entries.js";

test("keeps what sorting and cutting keeps", () => {
  const next = seededRandom(7).next;
  for (let round = 0; round < 300; round++) {
    const entries = Array.from({ length: Math.floor(next() * 40) }, () => Math.floor(next() * 30));
    const limit = round % 10 === 0 ? Number.POSITIVE_INFINITY : Math.floor(next() * 20);
    const first = new FirstEntries<number>(limit, (a, b) => a - b);
    const out = entries.flatMap((entry) => first.add(entry) ?? []);
    const sorted = [...entries].sort((a, b) => a - b);
    expect(first.size).toBe(Math.min(limit, entries.length));
    expect(out.sort((a, b) => a - b)).toEqual(sorted.slice(Math.min(limit, sorted.length)));
    const backwards: number[] = [];
    for (let last = first.takeLast(); last !== undefined; last = first.takeLast()) backwards.push(last);
    expect(backwards.reverse()).toEqual(sorted.slice(0, limit));
    expect(first.size).toBe(0);
  }
});
