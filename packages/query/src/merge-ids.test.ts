import type { ObjectId } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { expect, test } from "vitest";
import { mergeIds } from "./merge-ids.js";
import { queryYielder } from "./query-yielder.js";

test("ascending lists become one, without doubles", async () => {
  const random = seededRandom(4);
  for (let round = 0; round < 200; round++) {
    const lists = Array.from({ length: random.below(7) }, () => {
      const ids = Array.from({ length: random.below(30) }, () => `${random.below(60)}` as ObjectId);
      return [...new Set(ids)].sort();
    });
    expect(await mergeIds(lists, queryYielder({}))).toEqual([...new Set(lists.flat())].sort());
  }
});

test("long lists are merged in steps, which a signal ends", async () => {
  const ids = (from: number) => Array.from({ length: 200_000 }, (_, at) => `${1_000_000 + from + at * 2}` as ObjectId);
  const lists = [ids(0), ids(1)];
  let steps = 0;
  let isDone = false;
  const count = (): void => {
    steps += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  expect(await mergeIds(lists, queryYielder({}))).toHaveLength(400_000);
  isDone = true;
  expect(steps).toBeGreaterThan(2);
  const ended = new AbortController();
  ended.abort(new Error("ended"));
  await expect(mergeIds(lists, queryYielder({ signal: ended.signal }))).rejects.toThrow("ended");
});
