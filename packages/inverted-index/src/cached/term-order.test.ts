import { compareUtf8 } from "@shoal/model";
import { runWork } from "@shoal/runtime";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { indexYielder } from "../index-yielder.js";
import { placeOf, TermOrder } from "./term-order.js";

const wordOf = (random: SeededRandom) =>
  `${random.pick(["a", "\uffff", "\u{10000}", "z"])}${random.below(30_000).toString(36)}`;

describe("order of terms", () => {
  it("has every term, sorted, whatever comes and however often it is read or left", async () => {
    const random = seededRandom(1);
    const terms = new Set<string>();
    const order = new TermOrder(() => terms.keys());
    const add = () => {
      const term = wordOf(random);
      if (terms.has(term)) return;
      terms.add(term);
      order.added(term);
    };
    for (let round = 0; round < 30; round++) {
      for (let count = random.below(3000); count > 0; count--) add();
      const work = order.read(indexYielder());
      // One that asks and is gone before it has a result.
      if (round % 3 === 0 && work.next().done !== true) work.return({ sorted: [], fresh: [] });
      const reading = runWork(order.read(indexYielder()));
      add();
      const { sorted, fresh } = await reading;
      expect([...sorted]).toEqual([...new Set(sorted)].sort(compareUtf8));

      for (const term of terms) if (sorted[placeOf(sorted, term)] !== term) expect(fresh).toContain(term);
    }
  });
});
