import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import { expect, it } from "vitest";
import { CopiesWorld, NODES, until } from "./copies-world.fixture.js";

const OBJECTS = 25;
const ROUNDS = 5;
const CLIENTS = 3;

/** What each object may be: what was acknowledged last, and what nobody knows of since. */
class Ledger {
  readonly may = new Map<number, Set<number | undefined>>();
  readonly busy = new Set<number>();
  acknowledged = 0;

  constructor(readonly world: CopiesWorld) {}

  /** A write or a deletion on whoever takes itself for the primary. */
  async write(n: number): Promise<void> {
    const { random } = this.world;
    const at = random.below(OBJECTS);
    const node = [...this.world.nodes.values()].find((one) => one.replica()?.isPrimary === true);
    if (node === undefined || this.busy.has(at)) return void (await sleep(5));
    const next = random.oneIn(4) ? undefined : n;
    const before = this.may.get(at) ?? new Set([undefined]);
    this.may.set(at, new Set([...before, next]));
    this.busy.add(at);
    try {
      await (next === undefined ? node.delete(at) : node.put(at, next));
      this.may.set(at, new Set([next]));
      this.acknowledged++;
    } catch (thrown) {
      const { code, message } = ShoalError.from(thrown);
      expect(["moved", "unavailable"], message).toContain(code);
      // It was not begun.
      if (code === "moved") this.may.set(at, before);
    } finally {
      this.busy.delete(at);
    }
  }
}

/** Real time: what happens differs from run to run, what has to come of it does not. */
it.each([1, 2, 3])(
  "copies keep what was acknowledged, whatever happens to nodes and messages, seed %i",
  async (seed) => {
    await using world = await CopiesWorld.start({ seed });
    const { random } = world;
    const ledger = new Ledger(world);
    let n = 0;
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isOver) {
        await ledger.write(++n);
        await sleep(1);
      }
    });
    for (let round = 0; round < ROUNDS; round++) {
      const name = random.pick([...NODES]);
      const isKilled = random.oneIn(2);
      world.faults = { dropped: 0.05, doubled: 0.1, late: 0.2, lateMsMax: random.pick([5, 50, 800]) };
      if (isKilled) world.node(name).kill();
      else if (random.oneIn(2)) world.isolate(name);
      else world.cut(name, random.pick(NODES.filter((one) => one !== name)));
      await sleep(300 + random.below(1_200));
      world.heal();
      if (isKilled) await world.node(name).start();
      const reached = ledger.acknowledged + 20;
      await until("writes are acknowledged", () => ledger.acknowledged >= reached);
      await world.inSync();
    }
    isOver = true;
    await Promise.all(clients);
    // A last commit brings everybody to the same end.
    await world.put(OBJECTS, OBJECTS + 1);
    await world.whole();
    const values = new Map<number, unknown>();
    for (const [at, states] of ledger.may) {
      values.set(at, await world.read(at));
      expect([...states], `object ${at}`).toContain(values.get(at));
    }
    const there = [...values].flatMap(([at, value]) => (value === undefined ? [] : [at]));
    for (const node of NODES)
      await world.finds(
        node,
        [...there, OBJECTS].sort((a, b) => a - b),
      );
  },
);
