import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CommitGathering } from "./commit-gathering.js";

/** Commits of `tookMs` each; `committed` writes and `waiting` ones that came meanwhile. */
function after(tookMs: number, committed: number, waiting: number): CommitGathering {
  let nowMs = 1000;
  const gathering = new CommitGathering(() => nowMs);
  for (let commit = 0; commit < 20; commit++) {
    gathering.begins();
    nowMs += tookMs;
    gathering.ended(committed, waiting);
  }
  return gathering;
}

describe("writes that share a commit", () => {
  it("waits for those that were answered, and for no more of them", async () => {
    const gathering = after(2, 3, 13);
    let isGathered = false;
    const gathered = gathering.gather(13)?.then(() => {
      isGathered = true;
    });
    for (const waiting of [14, 15]) {
      gathering.came(waiting);
      await Promise.resolve();
      expect(isGathered).toBe(false);
    }
    gathering.came(16);
    await gathered;
    expect(isGathered).toBe(true);
    expect(gathering.gather(16)).toBeUndefined();
  });

  it("goes on when they do not come, and expects no more than came", async () => {
    const gathering = after(2, 3, 13);
    await gathering.gather(13);
    gathering.begins();
    gathering.ended(13, 0);
    expect(gathering.gather(12)).toBeInstanceOf(Promise);
    expect(gathering.gather(13)).toBeUndefined();
  });

  it("lets a single writer, and commits that cost next to nothing, go at once", () => {
    expect(after(5, 1, 0).gather(1)).toBeUndefined();
    expect(after(0, 3, 13).gather(13)).toBeUndefined();
    expect(new CommitGathering(() => 0).gather(1)).toBeUndefined();
  });

  it("knows commits of part of a millisecond from a clock of whole ones, and takes one that is set back", () => {
    let nowMs = 0;
    const gathering = new CommitGathering(() => Math.floor(nowMs));
    for (let commit = 0; commit < 100; commit++) {
      gathering.begins();
      nowMs += 0.1;
      gathering.ended(3, 13);
    }
    expect(gathering.gather(13)).toBeUndefined();
    gathering.begins();
    nowMs -= 1_000_000;
    gathering.ended(3, 13);
    expect(gathering.gather(13)).toBeUndefined();
  });

  it("two halves of all writers become one", async () => {
    const [writers, rounds] = [16, 40];
    let nowMs = 0;
    const gathering = new CommitGathering(() => nowMs);
    const sizes: number[] = [];
    let waiting = 3;
    for (let round = 0; round < rounds; round++) {
      const gathered = gathering.gather(waiting);
      // Those that were answered come back a moment later, all that are not in line.
      if (gathered !== undefined) {
        await setImmediate();
        for (; waiting < writers; ) gathering.came(++waiting);
        await gathered;
      }
      gathering.begins();
      nowMs += 2;
      const written = waiting;
      sizes.push(written);
      waiting = writers - written;
      gathering.ended(written, waiting);
      if (waiting === 0) waiting = 3;
    }
    expect(sizes[0]).toBe(3);
    expect(new Set(sizes.slice(10))).toEqual(new Set([writers]));
  });
});
