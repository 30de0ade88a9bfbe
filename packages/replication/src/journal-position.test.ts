import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { cutTable, type EpochTable, epochAt, lastCommon, START, withEpoch } from "./journal-position.js";

interface Journal {
  readonly epochs: EpochTable;
  readonly end: { readonly epoch: number; readonly sequence: number };
}

function journalOf(entries: readonly number[]): Journal {
  let epochs: EpochTable = [];
  for (const [at, epoch] of entries.entries()) epochs = withEpoch(epochs, epoch, at + 1);
  return { epochs, end: { epoch: entries.at(-1) ?? 0, sequence: entries.length } };
}

describe("journals", () => {
  it("finds the last entry that both have, as a comparison entry by entry does", () => {
    const { below } = seededRandom(1);
    for (let round = 0; round < 5_000; round++) {
      const shared = Array.from({ length: below(8) }, () => 1 + below(3)).sort();
      const last = shared.at(-1) ?? 1;
      // After they part no epoch stands in both: an epoch has one primary.
      const one = [
        ...shared,
        ...Array.from({ length: below(5) }, () => last + 2 * (1 + below(3))).sort((a, b) => a - b),
      ];
      const other = [
        ...shared,
        ...Array.from({ length: below(5) }, () => last + 1 + 2 * (1 + below(3))).sort((a, b) => a - b),
      ];
      let sequence = 0;
      while (sequence < Math.min(one.length, other.length) && one[sequence] === other[sequence]) sequence++;
      const expected = sequence === 0 ? START : { epoch: one[sequence - 1], sequence };
      expect(lastCommon(journalOf(one), journalOf(other)), `${one} and ${other}`).toEqual(expected);
    }
  });

  it("knows the epoch of each entry, also after what follows was cut", () => {
    const { epochs } = journalOf([1, 1, 3, 3, 7]);
    expect([0, 1, 2, 3, 4, 5].map((sequence) => epochAt(epochs, sequence))).toEqual([0, 1, 1, 3, 3, 7]);
    expect(cutTable(epochs, 4)).toEqual(journalOf([1, 1, 3, 3]).epochs);
  });
});
