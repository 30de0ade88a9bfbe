import { type ObjectId, SPEC_PROFILE, WEAVIATE_PROFILE } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { input, plantNote, refusal, type SetupOptions, setUp } from "./ingest-setup.fixture.js";

const id = "8e2997f2-1972-4ee2-ad35-5fc704f2893e" as ObjectId;
const one = "11111111-aaaa-1111-1111-111111111111" as ObjectId;
const two = "22222222-2222-2222-2222-222222222222" as ObjectId;
const nowhere = "33333333-3333-3333-3333-333333333333" as ObjectId;

const to = (target: string, scheme = "svc") => `${scheme}://localhost/${target}`;

async function withCar(options: SetupOptions = {}) {
  const setup = setUp(options);
  const { cluster, ingest, context } = setup;
  plantNote(cluster, one);
  plantNote(cluster, two);
  await ingest.createObject(input("Car", { id, properties: { name: "a" } }), context);
  cluster.publishDimensions();
  cluster.now = 2_000;
  cluster.calls.length = 0;
  const list = () => {
    const notes = cluster.row("Car", id)?.object.properties?.notes as { beacon: string }[] | undefined;
    return notes?.map(({ beacon }) => beacon);
  };
  return { ...setup, list };
}

type Setup = Awaited<ReturnType<typeof withCar>>;
type Operation = readonly [
  name: "add" | "replace" | "remove",
  run: (setup: Setup, id: ObjectId, property: string, beacon: string) => Promise<void>,
];

const OPERATIONS: readonly Operation[] = [
  ["add", ({ ingest, context }, ...place) => ingest.addReference(...place, context)],
  ["replace", ({ ingest, context }, path, name, beacon) => ingest.replaceReferences(path, name, [beacon], context)],
  ["remove", ({ ingest, context }, path, name, beacon) => ingest.removeReferences(path, name, [beacon], context)],
];

const NO_PROPERTY =
  "Could not find property 'nope': no such prop with name 'nope' found in class 'Car' in the schema: " +
  "it has name, wheels, notes";
const PRIMITIVE = "property 'name' of class 'Car' holds no references: its data type names no class";

describe("references of one property", () => {
  it.each([
    ["svc", SPEC_PROFILE],
    ["weaviate", WEAVIATE_PROFILE],
  ] as const)("are added, replaced and removed; stored with the scheme %s", async (scheme, profile) => {
    const { cluster, ingest, context, list } = await withCar({
      profile: profile === SPEC_PROFILE ? "spec" : "weaviate",
    });
    await ingest.addReference(id, "notes", to(one.toUpperCase(), "x"), context);
    await ingest.addReference(id, "notes", to(two), context);
    await ingest.addReference(id, "notes", to(one), context);
    expect(list()).toEqual([to(one, scheme), to(two, scheme), to(one, scheme)]);
    await ingest.removeReferences(id, "notes", [to(one.toUpperCase(), "other")], context);
    expect(list()).toEqual([to(two, scheme), to(one, scheme)]);
    await ingest.replaceReferences(id, "notes", [to(one, "y"), to(one), to(id)], context);
    expect(list()).toEqual([to(one, scheme), to(one, scheme), to(id, scheme)]);
    await ingest.removeReferences(id, "notes", [to(one), to(one), to(id)], context);
    expect(list()).toEqual([]);
    await ingest.replaceReferences(id, "notes", [], context);
    expect(list()).toEqual([]);
    expect(cluster.row("Car", id)).toMatchObject({
      object: { properties: { name: "a" }, vector: Float32Array.of(1, 2) },
      times: { creationTimeUnix: 1_000, lastUpdateTimeUnix: 2_000 },
    });
  });

  it("takes out what is not there by leaving an empty list, and the update time moves", async () => {
    const { cluster, ingest, context, list } = await withCar();
    await ingest.removeReferences(id, "notes", [to(one), "foo:bar", `x://elsewhere/${one}`], context);
    expect(list()).toEqual([]);
    expect(cluster.row("Car", id)?.times.lastUpdateTimeUnix).toBe(2_000);
    await ingest.addReference(id, "notes", to(one), context);
    await ingest.removeReferences(id, "notes", [to(two), `x://elsewhere/${one}`], context);
    expect(list()).toEqual([to(one)]);
  });

  it("ask once for the object and all targets", async () => {
    const { cluster, ingest, context } = await withCar();
    await ingest.replaceReferences(id, "notes", [to(one), to(two), to(one)], context);
    await ingest.removeReferences(id, "notes", [to(one)], context);
    expect(cluster.calls).toEqual(["node0 find 3", "node0 merge Car", "node0 find 1", "node0 merge Car"]);
  });

  it("are those of the first class by name that has the object", async () => {
    const { cluster, ingest, context, list } = await withCar();
    const bus = cluster.classRecord("Bus");
    if (bus === undefined) throw new Error("no class");
    cluster.plant(bus, id);
    await ingest.addReference(id, "notes", to(one), context);
    expect(cluster.row("Bus", id)?.object.properties).toEqual({ notes: [{ beacon: to(one) }] });
    expect(list()).toBeUndefined();
  });

  it("all arrive when they are added side by side", async () => {
    const { ingest, context, list } = await withCar();
    await Promise.all([one, two, one, two, one].map((target) => ingest.addReference(id, "notes", to(target), context)));
    expect(list()?.sort()).toEqual([to(one), to(one), to(one), to(two), to(two)]);
  });
});

describe.each(OPERATIONS)("refusals of %s", (name, run) => {
  const code = name === "remove" ? "notFound" : "invalid";
  const prefix = name === "replace" ? "invalid references: " : "invalid reference: ";

  it("tell an unknown object first, then faults of the reference, then the property", async () => {
    const setup = await withCar({ nodes: 2, shards: 3 });
    const unknown = `${code}: no object with id '${nowhere}'`;
    expect(await refusal(run(setup, nowhere, "nope", "svc://localhost/x"))).toBe(unknown);
    expect(await refusal(run(setup, nowhere, "nope", to(nowhere)))).toBe(unknown);
    expect(await refusal(run(setup, id, "nope", to(one)))).toBe(`${code}: ${NO_PROPERTY}`);
    expect(await refusal(run(setup, id, "Notes", to(one)))).toMatch(/Could not find property 'Notes'/);
    expect(await refusal(run(setup, id, "name", to(one)))).toBe(`${code}: ${PRIMITIVE}`);
    const malformed = await refusal(run(setup, id, "nope", "svc://localhost/Car/x"));
    const missing = await refusal(run(setup, id, "nope", to(nowhere)));
    const foreign = await refusal(run(setup, id, "nope", `svc://elsewhere/${one}`));
    const without = await refusal(run(setup, id, "nope", ""));
    if (name === "remove") {
      expect(new Set([malformed, missing, foreign, without])).toEqual(new Set([`${code}: ${NO_PROPERTY}`]));
      return;
    }
    const path = "invalid reference: invalid cref URI: path must be of format '/<uuid>', but got";
    expect(malformed).toBe(`invalid: ${prefix}${path} '/Car/x'`);
    expect(without).toBe(`invalid: ${prefix}${path} ''`);
    expect(missing).toBe(`invalid: ${prefix}reference not found: no object with id ${nowhere} found`);
    expect(foreign).toBe(`invalid: ${prefix}the host of a beacon must be 'localhost', got 'elsewhere'`);
  });

  it("do not call missing what cannot be asked for", async () => {
    const setup = await withCar();
    setup.cluster.downShards.add("Bus");
    expect(await refusal(run(setup, nowhere, "notes", to(one)))).toBe("unavailable: a shard of 'Bus' is down");
    const result = await refusal(run(setup, id, "notes", to(nowhere)));
    expect(result).toBe(name === "remove" ? "accepted" : "unavailable: a shard of 'Bus' is down");
    expect(await refusal(run(setup, id, "notes", to(one)))).toBe("accepted");
  });

  it("tell an object that vanished meanwhile", async () => {
    const setup = await withCar();
    const { cluster, ingest, context } = setup;
    const find = cluster.snapshot.classes.map((record) => cluster.node(cluster.shardOf(record, id)))[0];
    if (find === undefined) throw new Error("no node");
    const asked = find.findObjects.bind(find);
    find.findObjects = async (...question) => {
      const result = await asked(...question);
      find.findObjects = asked;
      await ingest.deleteObject(id, context);
      return result;
    };
    expect(await refusal(run(setup, id, "notes", to(one)))).toBe(`${code}: no object with id '${id}'`);
  });
});

it("the first faulty reference of a list is reported", async () => {
  const { ingest, context } = await withCar();
  const replace = (...beacons: string[]) => refusal(ingest.replaceReferences(id, "notes", beacons, context));
  expect(await replace(to(one), to(nowhere), "bad:")).toContain("reference not found");
  expect(await replace(to(one), "bad:", to(nowhere))).toContain("invalid cref URI");
});

it("a long list of beacons that cannot be read yields", async () => {
  let clock = 0;
  const { ingest, context } = await withCar({ nowMs: () => clock++, limits: { stepMsMax: 20 } });
  let iterations = 0;
  const timer = setInterval(() => iterations++, 0);
  await ingest.removeReferences(id, "notes", new Array(2_000).fill("bad:"), { ...context, deadline: Infinity });
  clearInterval(timer);
  expect(iterations).toBeGreaterThan(3);
});
