import { type ClassAction, type ClassRights, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { describe, expect, it } from "vitest";
import { deniedObserver, refusal, type Setup, setUp } from "../ingest-setup.fixture.js";
import { LateGateway } from "../two-gateways.fixture.js";
import { ID, OTHER, typesOf, withProperties } from "./auto-schema.fixture.js";
import type { MadeByAutoSchema } from "./auto-schema-settings.js";

const CREATE = "create_collections";
const UPDATE = "update_collections";

/** May do everything to objects, and to classes only what is named. */
function contextOf(...allowed: readonly ClassAction[]): RequestContext {
  const may = (action: ClassAction) => action.endsWith("_data") || allowed.includes(action);
  const rights: ClassRights = {
    holder: { username: "ann", groups: [], userType: "db" },
    mayKnow: () => true,
    mayRead: () => true,
    maySeeShards: () => true,
    may,
    require: (action, className) => {
      if (!may(action)) throw new ShoalError("forbidden", `lacks ${action} of ${className}`);
    },
  };
  return { deadline: Number.MAX_SAFE_INTEGER, rights };
}

interface Race extends Setup {
  readonly made: MadeByAutoSchema[];
  /** Runs once, between the plan of a change and the change. */
  between(work: () => void): void;
}

function race(): Race {
  const made: MadeByAutoSchema[] = [];
  const setup = setUp({ autoSchema: {}, onMade: (one) => made.push(one) });
  const between = (work: () => void) => {
    setup.cluster.beforeEnsure = async () => {
      setup.cluster.beforeEnsure = () => Promise.resolve();
      work();
    };
  };
  return { ...setup, made, between };
}

const shown = (made: readonly MadeByAutoSchema[]) =>
  made.map(({ className, isNewClass, properties }) => ({ className, isNewClass, names: Object.keys(properties) }));

/** `stored`, or the code of what is in the way, of a single object and of a batch of one. */
const WAYS = {
  create: ({ ingest }: Setup, className: string, properties: object, context: RequestContext) =>
    refusal(ingest.createObject(withProperties(className, properties), context)),
  batch: async ({ ingest }: Setup, className: string, properties: object, context: RequestContext) => {
    const [outcome] = await ingest.importObjects([withProperties(className, properties)], context);
    return outcome === undefined || "written" in outcome
      ? "accepted"
      : `${outcome.error.code}: ${outcome.error.message}`;
  },
};

describe.each(Object.entries(WAYS))("a class made or deleted between plan and change (%s)", (_, write) => {
  it("who may only make classes is forbidden to extend it, and the log does not name him as its maker", async () => {
    const setup = race();
    setup.between(() => setup.cluster.addClass({ class: "Truck", properties: [{ name: "a", dataType: ["text"] }] }));
    expect(await write(setup, "Truck", { mine: "x" }, contextOf(CREATE))).toContain(
      "forbidden: lacks update_collections of Truck",
    );
    expect(typesOf(setup, "Truck")).toEqual({ a: ["text"] });
    expect(setup.made).toEqual([]);
  });

  it("takes his object where it has all that this needs", async () => {
    const setup = race();
    setup.between(() => setup.cluster.addClass({ class: "Truck", properties: [{ name: "a", dataType: ["text"] }] }));
    expect(await write(setup, "Truck", { a: "x" }, contextOf(CREATE))).toBe("accepted");
    expect(setup.made).toEqual([]);
  });

  it("who may extend it does, and the log says that he has extended it", async () => {
    const setup = race();
    setup.between(() => setup.cluster.addClass({ class: "Truck", properties: [{ name: "a", dataType: ["text"] }] }));
    expect(await write(setup, "Truck", { mine: "x", a: "y" }, contextOf(CREATE, UPDATE))).toBe("accepted");
    expect(typesOf(setup, "Truck")).toEqual({ a: ["text"], mine: ["text"] });
    expect(shown(setup.made)).toEqual([{ className: "Truck", isNewClass: false, names: ["mine"] }]);
  });

  it("that was deleted is not made by who may only extend it", async () => {
    const setup = race();
    setup.between(() => setup.cluster.deleteClass("Car"));
    expect(await write(setup, "Car", { mine: "x" }, contextOf(UPDATE))).toContain(
      "forbidden: lacks create_collections of Car",
    );
    expect(setup.cluster.classRecord("Car")).toBeUndefined();
    const other = race();
    other.between(() => other.cluster.deleteClass("Car"));
    expect(await write(other, "Car", { mine: "x" }, contextOf(UPDATE, CREATE))).toBe("accepted");
    expect(shown(other.made)).toEqual([{ className: "Car", isNewClass: true, names: ["mine"] }]);
  });

  it("got some of its new properties from another importer: the log names each for his own", async () => {
    const setup = race();
    const { classId = "" } = setup.cluster.classRecord("Car") ?? {};
    const theirs = [{ name: "a", dataType: ["text"], description: "Auto generated property" }];
    setup.between(() => void setup.cluster.ensureProperties("Car", classId, theirs, setup.context));
    expect(await write(setup, "Car", { a: "x", b: "y" }, contextOf(UPDATE))).toBe("accepted");
    expect(shown(setup.made)).toEqual([{ className: "Car", isNewClass: false, names: ["b"] }]);
    setup.between(() => {
      const more = [{ ...theirs[0], name: "c", dataType: ["text"] }];
      void setup.cluster.ensureProperties("Car", classId, more, setup.context);
    });
    setup.made.length = 0;
    expect(await write(setup, "Car", { c: "x" }, contextOf(UPDATE))).toBe("accepted");
    expect(setup.made).toEqual([]);
  });

  it("that a new property was to refer to has gone with its objects", async () => {
    const setup = race();
    const bus = setup.cluster.classRecord("Bus");
    if (bus === undefined) throw new Error("no class Bus");
    setup.cluster.plant(bus, OTHER);
    const references = { to: [{ beacon: `svc://localhost/${OTHER}` }] };
    const before = typesOf(setup, "Car");
    setup.between(() => setup.cluster.deleteClass("Bus"));
    expect(await write(setup, "Car", references, contextOf(UPDATE))).toContain(`no object with id ${OTHER} found`);
    expect(typesOf(setup, "Car")).toEqual(before);
  });
});

describe("a gateway that has not heard of a class yet", () => {
  const late = () => {
    const setup = setUp({ autoSchema: {} });
    const gateway = new LateGateway(setup.cluster, true);
    setup.cluster.addClass({ class: "Truck", properties: [{ name: "a", dataType: ["text"] }] });
    return { setup, ingest: gateway.ingest };
  };

  it("asks for the right to what really has to be done", async () => {
    for (const [properties, allowed, expected] of [
      [{ a: "x" }, [], "accepted"],
      [{ b: "x" }, [UPDATE], "accepted"],
      [{ b: "x" }, [CREATE], "forbidden: lacks update_collections of Truck"],
      [{ b: "x" }, [], "forbidden: lacks update_collections of Truck"],
    ] as const) {
      for (const id of [undefined, ID]) {
        const { ingest } = late();
        const input = withProperties("Truck", properties, { id });
        expect(await refusal(ingest.createObject(input, contextOf(...allowed)))).toBe(expected);
      }
      const { ingest } = late();
      const [outcome] = await ingest.importObjects([withProperties("Truck", properties)], contextOf(...allowed));
      if (outcome === undefined) throw new Error("no outcome");
      const said = "written" in outcome ? "accepted" : `${outcome.error.code}: ${outcome.error.message}`;
      expect(said).toBe(expected);
    }
  });

  it("tells each item of a batch that is refused; of a single object the answer does", async () => {
    const { observer, denied } = deniedObserver();
    const context = { ...contextOf(), observer };
    const { ingest } = setUp({ autoSchema: {} });
    const inputs = ["Truck", "truck", "Car", "car", "Car"].map((name) => withProperties(name, { mine: "x" }));
    await ingest.importObjects([...inputs, withProperties("Car", {})], context);
    const all = { "create_collections Truck": 2, "update_collections Car": 3 };
    expect(denied).toEqual(all);
    expect(await refusal(ingest.createObject(withProperties("Truck", { mine: "x" }), context))).toContain("forbidden");
    expect(denied).toEqual(all);
  });

  it("asks the coordinator once, however many classes a batch may not make", async () => {
    const { cluster } = setUp({ autoSchema: {} });
    const gateway = new LateGateway(cluster, true);
    let questions = 0;
    const current = cluster.current.bind(cluster);
    cluster.current = (context) => {
      questions++;
      return current(context);
    };
    const inputs = Array.from({ length: 50 }, (_, at) => withProperties(`New${at}`, { a: "x" }));
    const outcomes = await gateway.ingest.importObjects(inputs, contextOf(UPDATE));
    expect(outcomes.filter((outcome) => "error" in outcome && outcome.error.code === "forbidden")).toHaveLength(50);
    expect(questions).toBeLessThanOrEqual(1);
    expect(cluster.classRecord("New1")).toBeUndefined();
  });
});

it.each(["create", "batch"] as const)(
  "S-roles: %s: what cannot be beside a hidden class does not name it",
  async (way) => {
    const setup = setUp({ autoSchema: {} });
    setup.cluster.addClass({ class: "AggregateTaxes" });
    const context = contextOf(CREATE, UPDATE);
    const rights = { ...(context.rights as ClassRights), mayKnow: (name: string) => name === "Taxes" };
    const result = await WAYS[way](setup, "Taxes", { a: 1 }, { ...context, rights });
    expect(result).toContain("'AggregateTaxes' of class 'Taxes' would collide with that of another class");
  },
);
