import { describe, expect, it } from "vitest";
import { encodeRow, RowView, stampPlace } from "./row.js";
import { RowCache } from "./row-cache.js";
import { Random } from "./testing/random.js";

function row(text: string, document: number): RowView {
  const bytes = encodeRow({ propertiesJson: text, extrasJson: '{"e":1}', vector: Float32Array.of(1, 2, 3) });
  stampPlace(bytes, document, 1, 0);
  const view = RowView.of(bytes);
  if (view === undefined) throw new Error("row cannot be read");
  return view;
}

const text = (view: RowView | undefined) =>
  view === undefined ? undefined : Buffer.from(view.propertiesJson).toString();

describe("row cache", () => {
  it("keeps all of a row but its vector", () => {
    const cache = new RowCache(1 << 20);
    cache.put(5, row("abc", 5));
    expect(text(cache.get(5))).toBe("abc");
    expect(Buffer.from(cache.get(5)?.extrasJson ?? []).toString()).toBe('{"e":1}');
    expect(cache.get(5)?.hasVector).toBe(false);
    expect(cache.get(4)).toBeUndefined();
    expect(cache.get(5_000_000)).toBeUndefined();
  });

  it("forgets what was removed, and keeps nothing without room", () => {
    const cache = new RowCache(1 << 20);
    cache.put(5, row("abc", 5));
    cache.remove(5);
    cache.remove(50_000);
    expect(cache.get(5)).toBeUndefined();
    const none = new RowCache(1_000);
    none.put(5, row("abc", 5));
    expect(none.get(5)).toBeUndefined();
  });

  it.each([1, 2])("never answers with an old or another's row, stays within its bound, seed %i", (seed) => {
    const bytesMax = 1 << 20;
    const random = new Random(seed);
    const cache = new RowCache(bytesMax);
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
