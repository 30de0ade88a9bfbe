import { type ClassAction, type ClassRights, type ObjectId, type RightsHolder, ShoalError } from "@shoal/model";
import { expect, it } from "vitest";
import { deniedObserver, input, setUp } from "./ingest-setup.fixture.js";

const ANN: RightsHolder = { username: "ann", groups: [], userType: "db", sinceMs: 5 };

function idOf(number: number): ObjectId {
  return `00000000-0000-4000-9000-${number.toString(16).padStart(12, "0")}` as ObjectId;
}

/** Rights of Ann to everything but what is lost. */
function rightsWithout(lost: () => ClassAction | undefined): ClassRights {
  return {
    holder: ANN,
    mayKnow: () => true,
    mayRead: () => true,
    may: (action) => action !== lost(),
    maySeeShards: () => true,
    require: (action, className) => {
      if (action === lost()) throw new ShoalError("forbidden", `ann lacks ${action} of ${className}`);
    },
  };
}

it.each(["create_data", "update_data"] as const)("S-roles: a batch ends where %s is taken away", async (action) => {
  let lost: ClassAction | undefined;
  const rightsOf = (holder: RightsHolder) => {
    expect(holder).toEqual(ANN);
    return rightsWithout(() => lost);
  };
  const { cluster, ingest, context } = setUp({ limits: { chunkObjectsMax: 10 }, rightsOf });
  const { observer, denied } = deniedObserver();
  const anns = { ...context, rights: rightsWithout(() => undefined), observer };
  let puts = 0;
  cluster.beforePut = () => {
    if (++puts === 2) lost = action;
  };
  const cars = Array.from({ length: 50 }, (_, at) => input("Car", { id: idOf(at) }));
  const outcomes = await ingest.importObjects(cars, anns);
  for (const [at, outcome] of outcomes.entries()) {
    if (at < 20) expect(outcome).toHaveProperty("written");
    else expect(outcome).toMatchObject({ error: { code: "forbidden", message: `ann lacks ${action} of Car` } });
  }
  expect(cluster.row("Car", idOf(20))).toBeUndefined();
  expect(denied).toEqual({ [`${action} Car`]: 30 });
});

it("S-roles: a batch of references ends where update_data is taken away", async () => {
  let lost: ClassAction | undefined;
  const { cluster, ingest, context } = setUp({
    limits: { chunkObjectsMax: 10 },
    rightsOf: () => rightsWithout(() => lost),
  });
  await ingest.importObjects(
    Array.from({ length: 50 }, (_, at) => input("Car", { id: idOf(at) })),
    context,
  );
  let merges = 0;
  cluster.beforePut = () => {
    if (++merges === 2) lost = "update_data";
  };
  const references = Array.from({ length: 50 }, (_, at) => ({
    from: `svc://localhost/Car/${idOf(at)}/notes`,
    to: `svc://localhost/${idOf(at)}`,
  }));
  const { observer, denied } = deniedObserver();
  const anns = { ...context, rights: rightsWithout(() => undefined), observer };
  const outcomes = await ingest.importReferences(references, anns);
  expect(denied).toEqual({ "update_data Car": 30 });
  expect(outcomes.filter((outcome) => "written" in outcome)).toHaveLength(20);
  expect(outcomes.at(-1)).toMatchObject({ error: { code: "forbidden", message: "ann lacks update_data of Car" } });
});
