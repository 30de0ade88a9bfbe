import { expect, it } from "vitest";
import { giveBackAtRest } from "./give-back-at-rest.js";

const MIB = 1024 * 1024;

class Process {
  busy = 0;
  used = 100 * MIB;
  given = 0;
  readonly look = giveBackAtRest({
    busyPart: () => this.busy,
    usedBytes: () => this.used,
    giveBack: async () => {
      this.given++;
      this.used -= 5 * MIB;
    },
  });

  async looks(times: number): Promise<number> {
    for (let time = 0; time < times; time++) await this.look();
    return this.given;
  }
}

it("gives back when the process has come to rest and once more a little later, and not while it works", async () => {
  const it = new Process();
  it.busy = 0.5;
  expect(await it.looks(10)).toBe(0);
  it.busy = 0.05;
  expect(await it.looks(1)).toBe(0);
  expect(await it.looks(1)).toBe(1);
  expect(await it.looks(4)).toBe(1);
  expect(await it.looks(1)).toBe(2);
  expect(await it.looks(20)).toBe(2);
});

it("makes up for the second time where the first rest was too short for it", async () => {
  const it = new Process();
  expect(await it.looks(4)).toBe(1);
  it.busy = 1;
  await it.look();
  it.busy = 0;
  expect(await it.looks(20)).toBe(2);
  expect(await it.looks(20)).toBe(2);
});

it("does not go on because collections keep the process busy", async () => {
  const it = new Process();
  for (let second = 0; second < 200; second++) {
    const before = it.given;
    await it.look();
    it.busy = it.given > before ? 0.2 : 0;
  }
  expect(it.given).toBe(2);
});

it("does so again only after work that took memory", async () => {
  const it = new Process();
  expect(await it.looks(10)).toBe(2);
  const workThatTakes = async (bytes: number) => {
    it.busy = 1;
    await it.look();
    it.used += bytes;
    it.busy = 0;
    return it.looks(10);
  };
  expect(await workThatTakes(7 * MIB)).toBe(2);
  // Small growth adds up.
  expect(await workThatTakes(1 * MIB)).toBe(4);
  expect(await workThatTakes(0)).toBe(4);
});
