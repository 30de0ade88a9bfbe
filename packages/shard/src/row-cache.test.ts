import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { encodeRow, RowView, stampPlace } from "./row.js";
import { RowCache } from "./row-cache.js";
import { RowCacheBudget } from "./row-cache-budget.js";
import { idOf } from "./testing/shard-under-test-suite.js";

function row(text: string, document: number): RowView {
  const content = { propertiesJson: text, extrasJson: '{"e":1}', vector: Float32Array.of(1, 2, 3) };
  const bytes = encodeRow(content, { id: idOf(document), bytesMax: 1_000_000, bytesBefore: 0 });
  stampPlace(bytes, document, 1, 0);
  const view = RowView.of(bytes);
  if (view === undefined) throw new Error("row cannot be read");
  return view;
}

const text = (view: RowView | undefined) =>
  view === undefined ? undefined : Buffer.from(view.propertiesJson).toString();

describe("row cache", () => {
  it("keeps all of a row but its vector", () => {
    const cache = new RowCache(new RowCacheBudget(1 << 20));
    cache.put(5, row("abc", 5));
    expect(text(cache.get(5))).toBe("abc");
    expect(Buffer.from(cache.get(5)?.extrasJson ?? []).toString()).toBe('{"e":1}');
    expect(cache.get(5)?.hasVector).toBe(false);
    expect(cache.get(4)).toBeUndefined();
    expect(cache.get(5_000_000)).toBeUndefined();
  });

  it("forgets what was removed, and keeps nothing without room", () => {
    const cache = new RowCache(new RowCacheBudget(1 << 20));
    cache.put(5, row("abc", 5));
    cache.remove(5);
    cache.remove(50_000);
    expect(cache.get(5)).toBeUndefined();
    const none = new RowCache(new RowCacheBudget(1_000));
    none.put(5, row("abc", 5));
    expect(none.get(5)).toBeUndefined();
  });

  it("shares its budget with others: the oldest slab goes, whoever has it", () => {
    const budget = new RowCacheBudget(3 * 65_536);
    const caches = [new RowCache(budget), new RowCache(budget)] as const;
    const random = seededRandom(3);
    const latest = [new Map<number, string>(), new Map<number, string>()] as const;
    for (let step = 0; step < 20_000; step++) {
      const which = step < 5_000 ? 0 : random.below(2);
      const document = random.below(500);
      const written = `${which}:${document}:${step}${"y".repeat(random.below(300))}`;
      caches[which === 0 ? 0 : 1].put(document, row(written, document));
      latest[which === 0 ? 0 : 1].set(document, written);
      expect(budget.usedBytes).toBeLessThanOrEqual(3 * 65_536);
      const other = random.below(500);
      for (const one of [0, 1] as const) {
        const found = text(caches[one].get(other));
        if (found !== undefined) expect(found).toBe(latest[one].get(other));
      }
    }
    const held = caches.map((cache) => [...Array(500).keys()].filter((document) => cache.get(document)).length);
    expect(Math.min(...held)).toBeGreaterThan(50);
    caches[0].clear();
    expect(caches[0].get(1)).toBeUndefined();
    expect(budget.usedBytes).toBeLessThan(3 * 65_536);
    caches[0].put(1, row("again", 1));
    expect(text(caches[0].get(1))).toBe("again");
  });

  it.each([1, 2])("never answers with an old or another's row, stays within its bound, seed %i", (seed) => {
    const bytesMax = 1 << 20;
    const random = seededRandom(seed);
    const cache = new RowCache(new RowCacheBudget(bytesMax));
    const latest = new Map<number, string>();
    const handedOut: [RowView, string][] = [];
    let hits = 0;
    for (let step = 0; step < 60_000; step++) {
      const document = random.below(20_000);
      if (random.below(10) === 0) {
        cache.remove(document);
        latest.delete(document);
      } else if (random.below(2) === 0) {
        const written = `${document}:${step}${"x".repeat(random.below(200))}`;
        cache.put(document, row(written, document));
        latest.set(document, written);
      } else {
        const found = cache.get(document);
        if (found === undefined) continue;
        hits += 1;
        expect(text(found)).toBe(latest.get(document));
        if (hits % 1_000 === 0) handedOut.push([found, text(found) ?? ""]);
      }
    }
    expect(hits).toBeGreaterThan(1_000);
    expect(cache.memoryBytes).toBeLessThan(bytesMax + 200_000);
    for (const [view, then] of handedOut) expect(text(view)).toBe(then);
  });
});
