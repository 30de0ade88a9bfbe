import { type ClassAction, type ClassRights, type ObjectId, ShoalError } from "@shoal/model";
import { expect, it } from "vitest";
import { input, plantNote, refusal, type Setup, type SetupOptions, setUp } from "./ingest-setup.fixture.js";

const HIDDEN = "22222222-2222-4222-8222-222222222222" as ObjectId;
const ABSENT = "33333333-3333-4333-8333-333333333333" as ObjectId;

const carId = (at: number) => `a000000${at}-0000-4000-8000-000000000001` as ObjectId;
const to = (id: ObjectId) => [{ beacon: `x://localhost/${id}` }];

/** May do everything but see `Note`, and only what is named to classes. */
function withoutNotes({ context }: Setup, ...allowed: readonly ClassAction[]) {
  const rights: Partial<ClassRights> = {
    holder: { username: "ann", groups: [], userType: "db" },
    mayKnow: (className) => className !== "Note",
    mayRead: (className) => className !== "Note",
    may: (action) => action.endsWith("_data") || allowed.includes(action),
    require: () => {},
  };
  return { ...context, rights: rights as ClassRights };
}

/** Eight cars, each with a reference to the same note. */
async function withCars(options: SetupOptions = {}): Promise<Setup> {
  const setup = setUp(options);
  plantNote(setup.cluster, HIDDEN);
  const cars = Array.from({ length: 8 }, (_, at) => input("Car", { id: carId(at), properties: { notes: to(HIDDEN) } }));
  await setup.ingest.importObjects(cars, setup.context);
  setup.cluster.publishDimensions();
  return setup;
}

async function batch(setup: Setup, items: readonly (readonly [id: ObjectId | undefined, properties: object])[]) {
  const inputs = items.map(([id, properties]) => input("Car", { id, properties }));
  const outcomes = await setup.ingest.importObjects(inputs, withoutNotes(setup, "update_collections"));
  return outcomes.map((outcome) =>
    "written" in outcome ? "stored" : `${outcome.error.code}: ${outcome.error.message}`,
  );
}

const missing = (property: string, id: ObjectId) =>
  `invalid: invalid cref: 'cref' Car:${property}: no object with id ${id} found`;

it.each([undefined, {}])("S-roles: what one has read one may write back, auto-schema %j", async (autoSchema) => {
  const setup = await withCars({ autoSchema });
  const written = { notes: to(HIDDEN) };
  expect(
    await batch(setup, [
      [carId(1), written],
      [undefined, written],
      [carId(2), { ...written, name: "new" }],
    ]),
  ).toEqual(["stored", missing("notes", HIDDEN), "stored"]);
});

it("S-roles: also beside a property that auto-schema adds, and nothing else that is hidden", async () => {
  const setup = await withCars({ autoSchema: {} });
  const notes = to(HIDDEN);
  const id = carId(1).toUpperCase() as ObjectId;
  expect(
    await batch(setup, [
      [id, { notes, unseen: "text" }],
      [carId(2), { notes: [...notes, ...to(ABSENT)], unseen: "text" }],
      [undefined, { notes, unseen: "text" }],
      [carId(3), { unseen: "text" }],
    ]),
  ).toEqual(["stored", missing("notes", ABSENT), missing("notes", HIDDEN), "stored"]);
  expect(setup.cluster.row("Car", carId(1))?.object.properties).toMatchObject({
    notes: [{ beacon: `svc://localhost/${HIDDEN}` }],
    unseen: "text",
  });
});

it("S-roles: a reference that auto-schema makes a property of tells nothing of a hidden class", async () => {
  const results = async (id: ObjectId) => {
    const setup = await withCars({ autoSchema: {} });
    const context = withoutNotes(setup, "update_collections", "create_collections");
    const properties = { unseen: to(id) };
    const all = [
      ...(await batch(setup, [
        [carId(1), properties],
        [undefined, { unseen: [...to(carId(2)), ...to(id)] }],
      ])),
      await refusal(setup.ingest.createObject(input("Car", { properties }), context)),
      await refusal(setup.ingest.createObject(input("Fresh", { properties }), context)),
    ];
    expect(setup.cluster.classRecord("Fresh")).toBeUndefined();
    expect(setup.cluster.classRecord("Car")?.definition.properties).toHaveLength(3);
    return all.map((result) => result.replaceAll(id, "ID"));
  };
  expect(await results(HIDDEN)).toEqual(await results(ABSENT));
});

it("S-roles: auto-schema makes no property for one of two objects with an id while the other's age is not known", async () => {
  const setup = await withCars({ autoSchema: {} });
  const { cluster } = setup;
  const bus = cluster.classRecord("Bus");
  if (bus === undefined) throw new Error("no class Bus");
  cluster.plant(bus, carId(1), { creationTimeUnix: 2_000, lastUpdateTimeUnix: 2_000 });
  const properties = { unseen: to(carId(1)) };
  cluster.beforeGet = ({ className }) => {
    if (className === "Car") throw new ShoalError("unavailable", "its shard is down");
  };
  expect(await batch(setup, [[carId(2), properties]])).toEqual(["unavailable: its shard is down"]);
  cluster.beforeGet = () => {};
  expect(await batch(setup, [[carId(2), properties]])).toEqual(["stored"]);
  expect(cluster.classRecord("Car")?.definition.properties?.at(-1)).toMatchObject({
    name: "unseen",
    dataType: ["Car"],
  });
});

it("S-roles: shards are asked together what their objects hold", async () => {
  const setup = await withCars({ shards: 3 });
  const { cluster } = setup;
  const car = cluster.classRecord("Car");
  if (car === undefined) throw new Error("no class Car");
  const places = Array.from({ length: 8 }, (_, at) => at);
  const shards = new Set(places.map((at) => cluster.shardOf(car, carId(at)).shardName));
  expect(shards.size).toBeGreaterThan(1);
  const asked = new Set<string>();
  let tellAll = (): void => {};
  const allAsked = new Promise<void>((resolve) => {
    tellAll = resolve;
  });
  cluster.beforeGet = ({ shardName }) => {
    asked.add(shardName);
    if (asked.size === shards.size) tellAll();
    return allAsked;
  };
  const outcomes = await batch(
    setup,
    places.map((at) => [carId(at), { notes: to(HIDDEN) }] as const),
  );
  expect(outcomes).toEqual(places.map(() => "stored"));
});

it("S-roles: a shard that cannot tell what its objects hold takes no other's items with it", async () => {
  for (const autoSchema of [undefined, {}]) {
    const setup = await withCars({ shards: 3, autoSchema });
    const { cluster } = setup;
    const car = cluster.classRecord("Car");
    if (car === undefined) throw new Error("no class Car");
    const shardOf = (at: number) => cluster.shardOf(car, carId(at)).shardName;
    const down = shardOf(0);
    const places = Array.from({ length: 8 }, (_, at) => at);
    expect(new Set(places.map(shardOf)).size).toBeGreaterThan(1);
    cluster.beforeGet = ({ shardName }) => {
      if (shardName === down) throw new ShoalError("unavailable", `shard ${shardName} is down`);
    };
    const properties = { notes: to(HIDDEN), ...(autoSchema && { unseen: "text" }) };
    const outcomes = await batch(
      setup,
      places.map((at) => [carId(at), properties] as const),
    );
    expect(outcomes).toEqual(
      places.map((at) => (shardOf(at) === down ? `unavailable: shard ${down} is down` : "stored")),
    );
  }
});
