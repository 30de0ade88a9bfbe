import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { type Evictable, IndexMemory } from "./index-memory.js";

class Held implements Evictable {
  heldBytes = 0;
  constructor(readonly name: number) {}
  evict(): void {
    this.heldBytes = 0;
  }
}

describe("memory of indexes", () => {
  it("what was used longest ago goes first", () => {
    const memory = new IndexMemory(100);
    const [a, b, c] = [new Held(1), new Held(2), new Held(3)];
    for (const one of [a, b]) {
      one.heldBytes = 50;
      memory.holds(one);
    }
    memory.used(a);
    c.heldBytes = 10;
    memory.holds(c);
    expect([a.heldBytes, b.heldBytes, c.heldBytes]).toEqual([50, 0, 10]);
    expect(memory.usedBytes).toBe(60);
  });

  it("what is larger than all may be goes itself", () => {
    const memory = new IndexMemory(100);
    const [a, b] = [new Held(1), new Held(2)];
    a.heldBytes = 90;
    memory.holds(a);
    b.heldBytes = 101;
    memory.holds(b);
    expect([a.heldBytes, b.heldBytes, memory.usedBytes]).toEqual([90, 0, 90]);
  });

  it("never holds more than it may, and counts what is there, seeded", () => {
    const random = seededRandom(2);
    const memory = new IndexMemory(1000);
    const all = Array.from({ length: 20 }, (_, name) => new Held(name));
    for (let step = 0; step < 10_000; step++) {
      const one = random.pick(all);
      const what = random.below(3);
      if (what === 0) memory.used(one);
      else if (what === 1) {
        one.heldBytes = random.below(400);
        memory.holds(one);
      } else {
        memory.release(one);
        one.evict();
      }
      expect(memory.usedBytes).toBe(all.reduce((sum, { heldBytes }) => sum + heldBytes, 0));
      expect(memory.usedBytes).toBeLessThanOrEqual(1000);
    }
  });
});
