import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { DiskLanes } from "./disk-lanes.js";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("holds up nobody who wants another disk while one stands still", async () => {
  const lanes = new DiskLanes(2, 4);
  const begun: string[] = [];
  const start = (disk: number, name: string): void => {
    void (lanes.enter(disk) ?? Promise.resolve()).then(() => begun.push(name));
  };
  for (const name of ["a1", "a2", "a3", "a4"]) start(1, name);
  for (const name of ["b1", "b2", "b3"]) start(2, name);
  await settled();
  expect(begun).toEqual(["a1", "a2", "b1", "b2"]);
  // A third disk waits: all together are as many as they may be. It is next when anything ends, and not a disk that has its part.
  start(3, "c1");
  lanes.leave(2);
  await settled();
  expect(begun.slice(4)).toEqual(["b3"]);
  lanes.leave(2);
  await settled();
  expect(begun.slice(5)).toEqual(["c1"]);
  lanes.leave(1);
  await settled();
  expect(begun.slice(6)).toEqual(["a3"]);
});

it("gives back the place of what fails", async () => {
  const lanes = new DiskLanes(1, 1);
  await expect(lanes.run(1, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(lanes.underWay).toBe(0);
  expect(await lanes.run(1, async () => "yes")).toBe("yes");
  expect(() => lanes.leave(7)).toThrow(RangeError);
});

it.each([1, 2, 3, 4])(
  "seed %d: never more than there may be, in the order of the calls, and all of it in the end",
  async (seed) => {
    const random = seededRandom(seed);
    const ofDisk = 1 + random.below(4);
    const ofAll = ofDisk + random.below(5);
    const lanes = new DiskLanes(ofDisk, ofAll);
    const underWay = new Map<number, number>();
    const order = new Map<number, number[]>();
    const works = Array.from({ length: 400 }, async (_, number) => {
      const disk = 1 + random.below(4);
      await lanes.run(disk, async () => {
        const beside = (underWay.get(disk) ?? 0) + 1;
        underWay.set(disk, beside);
        order.set(disk, [...(order.get(disk) ?? []), number]);
        expect(beside).toBeLessThanOrEqual(ofDisk);
        expect([...underWay.values()].reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(ofAll);
        for (let turns = random.below(4); turns > 0; turns--) await settled();
        underWay.set(disk, (underWay.get(disk) ?? 0) - 1);
      });
    });
    await Promise.all(works);
    expect(lanes.underWay).toBe(0);
    for (const numbers of order.values()) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  },
);
