import { type ClassRights, ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { nearest } from "./testing/memory-shards.js";
import { context, engineOver, getQuery, ROWS, record, uuid, world } from "./testing/memory-world.js";

describe("several classes", () => {
  const objects = world(7, 300, ["Alpha", "Beta", "Gamma"]);
  const records = [record("Gamma"), record("Beta"), record("Alpha")];

  test("an id is found in its class with one request a node and one for the row", async () => {
    const { engine, shards } = engineOver(objects, 3, records);
    const object = objects[42];
    const id = object?.id;
    if (id === undefined) throw new Error("no object");
    expect((await engine.objectById(id, ROWS, context))?.className).toBe(object?.className);
    expect(Object.fromEntries(shards.calls)).toEqual({ findObjects: 1, getObjects: 1 });
    expect(await engine.objectById(uuid(seededRandom(1234)), ROWS, context)).toBeUndefined();
  });

  test("of twins the first class by name wins", async () => {
    const twin = objects[0];
    if (twin === undefined) throw new Error("no object");
    const twins = ["Gamma", "Beta", "Alpha"].map((className) => ({ ...twin, className }));
    const { engine } = engineOver(twins, 3, records);
    expect((await engine.objectById(twin.id, ROWS, context))?.className).toBe("Alpha");
  });

  test("an id is found while another class cannot be asked, and only then is its absence in doubt", async () => {
    const { engine, shards } = engineOver(objects, 1, records);
    const beta = objects.find(({ className }) => className === "Beta")?.id;
    if (beta === undefined) throw new Error("no object");
    const unknown = uuid(seededRandom(1234));
    for (const down of ["Alpha_s0", "Gamma_s0"]) {
      shards.down.add(down);
      expect((await engine.objectById(beta, ROWS, context))?.className, down).toBe("Beta");
      await expect(engine.objectById(unknown, ROWS, context)).rejects.toMatchObject({ code: "unavailable" });
    }
    shards.down.clear();
    shards.down.add("Beta_s0");
    await expect(engine.objectById(beta, ROWS, context)).rejects.toMatchObject({
      code: "unavailable",
      message: "shard s0 is down",
    });
    shards.down.clear();
    expect(await engine.objectById(unknown, ROWS, context)).toBeUndefined();
  });

  test("of twins the second is shown when the first cannot be read, but where roles are on", async () => {
    const twin = objects[0];
    if (twin === undefined) throw new Error("no object");
    const { engine, shards } = engineOver(
      ["Gamma", "Beta", "Alpha"].map((className) => ({ ...twin, className })),
      1,
      records,
    );
    const { getObjects } = shards.node();
    shards.node().getObjects = async (shard, ...rest) => {
      if (shard.className === "Alpha") throw new ShoalError("dataLoss", "damaged row");
      return getObjects(shard, ...rest);
    };
    expect((await engine.objectById(twin.id, ROWS, context))?.className).toBe("Beta");
    const withRoles = { ...context, rights: { mayRead: () => true, mayKnow: () => true } as unknown as ClassRights };
    const damaged = { code: "dataLoss", message: "damaged row" };
    await expect(engine.objectById(twin.id, ROWS, withRoles)).rejects.toMatchObject(damaged);
    // Where the oldest one is lost between the look at the ages and the read.
    let reads = 0;
    shards.node().getObjects = async (shard, ...rest) => {
      if (++reads > 3) throw new ShoalError("dataLoss", "damaged row");
      return getObjects(shard, ...rest);
    };
    await expect(engine.objectById(twin.id, ROWS, withRoles)).rejects.toMatchObject(damaged);
    expect(reads).toBe(4);
    shards.down.add("s0");
    await expect(engine.objectById(twin.id, ROWS, context)).rejects.toMatchObject({ code: "unavailable" });
  });

  test("S-roles: while a shard that may have an older twin cannot be asked, where roles are on nothing is shown", async () => {
    const younger = objects.find(({ className }) => className === "Beta");
    if (younger === undefined) throw new Error("no object");
    const { engine, shards } = engineOver(objects, 1, records);
    const withRoles = { ...context, rights: { mayRead: () => true, mayKnow: () => true } as unknown as ClassRights };
    const near = getQuery({
      className: "Beta",
      nearObject: { id: younger.id, beacon: undefined, certainty: undefined },
    });
    for (const down of ["Alpha_s0", "Gamma_s0"]) {
      shards.down.add(down);
      const failure = { code: "unavailable", message: expect.stringMatching("s0") };
      await expect(engine.objectById(younger.id, ROWS, withRoles), down).rejects.toMatchObject(failure);
      await expect(engine.get(near, withRoles), down).rejects.toMatchObject(failure);
      expect((await engine.objectById(younger.id, ROWS, context))?.className).toBe("Beta");
      shards.down.delete(down);
    }
    expect((await engine.objectById(younger.id, ROWS, withRoles))?.className).toBe("Beta");
    // Of a class that one does not see nobody asks.
    shards.down.add("Alpha_s0");
    const seesBeta = { mayRead: (name: string) => name === "Beta", mayKnow: (name: string) => name === "Beta" };
    const few = { ...context, rights: seesBeta as unknown as ClassRights };
    expect((await engine.objectById(younger.id, ROWS, few))?.className).toBe("Beta");
  });

  test("nearObject looks in all classes", async () => {
    const { engine } = engineOver(objects, 2, records);
    const foreign = objects.find(({ className }) => className === "Gamma");
    const near = { id: foreign?.id, beacon: undefined, certainty: undefined };
    const rows = await engine.get(getQuery({ className: "Alpha", nearObject: near, limit: 5 }), context);
    const vector = foreign?.vector ?? new Float32Array();
    const alphas = objects.filter(({ className }) => className === "Alpha");
    const expected = nearest(alphas, { vector, count: 5, fields: undefined });
    expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  });

  test("a list without a class covers all of them, with one only that", async () => {
    const { engine } = engineOver(objects, 2, records);
    const query = { after: undefined, limit: 1000, offset: undefined, fields: ROWS };
    expect(await engine.list({ ...query, className: undefined }, context)).toHaveLength(300);
    const betas = await engine.list({ ...query, className: "Beta" }, context);
    expect(new Set(betas.map(({ className }) => className))).toEqual(new Set(["Beta"]));
  });
});
