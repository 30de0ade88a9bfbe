import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CopiesWorld, classOf, NODES, until } from "./copies-world.fixture.js";
import { ownCopyOf } from "./copy-node.fixture.js";

/** What changed who is in sync. */
function takeOuts(world: CopiesWorld): readonly string[] {
  return [...world.nodes.values()].flatMap(({ name, events }) =>
    events.flatMap((event) => {
      if (event.type !== "configured" || event.before === undefined) return [];
      const { before, after } = event;
      const out = before.inSync.filter((copy) => !after.inSync.includes(copy));
      return out.length === 0 ? [] : [`${name}: without ${out}, version ${after.version}`];
    }),
  );
}

describe("the copies of a new class", () => {
  it("keep their names when one is opened after the primary has begun", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 1);
    world.service.place(
      "films/s1",
      NODES.map((node) => ownCopyOf(node)),
    );
    world.opening = async (node, classId) => {
      if (classId !== "films" || node === "n1") return;
      await until("the primary has begun", () => world.configuration("films").version > 1);
    };
    world.changeSchema([...world.snapshot.classes, classOf("films")]);
    await world.put(0, 3, 1, "films");
    await world.whole("films");
    const { inSync } = world.configuration("films");
    expect([...inSync].sort()).toEqual(NODES.map((node) => ownCopyOf(node)));
  });

  it("take nobody out whose node has had nothing to say for long", async () => {
    await using world = await CopiesWorld.start({ classIds: [] });
    await sleep(4 * world.leaseMs);
    world.service.place(
      "films/s1",
      NODES.map((node) => ownCopyOf(node)),
    );
    world.changeSchema([classOf("films")]);
    await world.put(0, 3, 1, "films");
    await world.whole("films");
    world.service.remove("films/s1");
    world.changeSchema([]);
    await sleep(4 * world.leaseMs);
    world.service.place(
      "books/s1",
      NODES.map((node) => ownCopyOf(node)),
    );
    world.changeSchema([classOf("books")]);
    await world.put(0, 3, 1);
    await world.whole();
    expect(takeOuts(world)).toEqual([]);
  });
});
