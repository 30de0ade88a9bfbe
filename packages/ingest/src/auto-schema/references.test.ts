import { describe, expect, it } from "vitest";
import { refusal, type Setup, setUp } from "../ingest-setup.fixture.js";
import { batch, ID, OTHER, typesOf, withProperties } from "./auto-schema.fixture.js";

describe("references", () => {
  const to = (...ids: string[]) => ids.map((id) => ({ beacon: `weaviate://localhost/${id}`, href: "/x" }));

  function withTargets(): Setup {
    const setup = setUp({ autoSchema: {}, shards: 3, nodes: 2 });
    const { cluster } = setup;
    for (const [className, id] of [
      ["Bus", ID],
      ["Note", OTHER],
    ] as const) {
      const record = cluster.classRecord(className);
      if (record !== undefined) cluster.plant(record, id);
    }
    return setup;
  }

  it("become properties of the classes of their targets, each once", async () => {
    const setup = withTargets();
    setup.cluster.calls.length = 0;
    const properties = { one: to(ID), both: to(OTHER, ID, OTHER) };
    const { object } = await setup.ingest.createObject(withProperties("Thing", properties), setup.context);
    expect(typesOf(setup, "Thing")).toEqual({ one: ["Bus"], both: ["Note", "Bus"] });
    expect(object.properties?.one).toEqual([{ beacon: `svc://localhost/${ID}` }]);
    const asked = setup.cluster.calls.filter((call) => !call.includes(" put "));
    expect(asked.length).toBeLessThanOrEqual(4);
  });

  it("of a batch are looked for together", async () => {
    const setup = withTargets();
    setup.cluster.calls.length = 0;
    const inputs = Array.from({ length: 50 }, (_, i) =>
      withProperties("Thing", { [`p${i % 5}`]: to(i % 2 ? ID : OTHER) }),
    );
    expect(new Set(await batch(setup, inputs))).toEqual(new Set(["stored"]));
    expect(setup.cluster.schemaChanges).toBe(1);
    expect(setup.cluster.calls.filter((call) => !call.includes(" put ")).length).toBeLessThanOrEqual(4);
  });

  it.each([
    [
      to("33333333-3333-3333-3333-333333333333"),
      "invalid cref: 'cref' Thing:ref: no object with id 33333333-3333-3333-3333-333333333333 found",
    ],
    [
      to(ID, "33333333-3333-3333-3333-333333333333"),
      "invalid cref: 'cref' Thing:ref: no object with id 33333333-3333-3333-3333-333333333333 found",
    ],
    [
      [{ beacon: "svc://localhost/zzz" }],
      "invalid cref: element 0 of property 'ref' of class 'Thing': invalid reference: invalid cref URI: 2nd path segment must be uuid, but got 'zzz'",
    ],
    [
      [{ beacon: `svc://elsewhere/${ID}` }],
      "invalid cref: element 0 of property 'ref' of class 'Thing': the host of a beacon must be 'localhost', got 'elsewhere'",
    ],
    [
      [{ beacon: 5 }],
      "invalid cref: element 0 of property 'ref' of class 'Thing' must have a beacon, a string such as svc://localhost/<uuid>, got the number 5",
    ],
  ])("that point nowhere are refused: %j", async (ref, message) => {
    const setup = withTargets();
    const before = setup.cluster.snapshot;
    const object = withProperties("Thing", { ref });
    expect(await refusal(setup.ingest.createObject(object, setup.context))).toContain(
      `invalid: invalid object: ${message}`,
    );
    expect((await batch(setup, [object]))[0]).toContain(message);
    expect(setup.cluster.snapshot).toBe(before);
  });

  it("of a seen property must exist before the schema changes", async () => {
    const setup = withTargets();
    const before = setup.cluster.snapshot;
    const object = withProperties("Car", { notes: to("33333333-3333-3333-3333-333333333333"), news: 1 });
    expect(await refusal(setup.ingest.createObject(object, setup.context))).toContain(
      "'cref' Car:notes: no object with id",
    );
    expect(setup.cluster.snapshot).toBe(before);
  });

  it("that cannot be looked for are unavailable, not missing", async () => {
    const setup = withTargets();
    for (const node of setup.cluster.nodeNames) setup.cluster.downNodes.add(node);
    const object = withProperties("Thing", { ref: to(ID) });
    expect(await refusal(setup.ingest.createObject(object, setup.context))).toMatch(/^unavailable: /);
  });
});
