import { type ClassDefinition, type ModuleSearch, ShoalError } from "@shoal/model";
import { type AdditionalProperty, EnabledModules, type Module, NEAR_TEXT } from "@shoal/module-api";
import { describe, expect, it } from "vitest";
import { QueryEngine } from "./query-engine.js";
import { MemoryShards, nearest } from "./testing/memory-shards.js";
import { context, DIMENSIONS, getQuery, limits, record, world } from "./testing/memory-world.js";

const OFFERED = { list: true, search: true, restObject: true, restList: false };

/** Reads nothing of its rows. */
const NUMBER: AdditionalProperty = {
  name: "number",
  output: { type: "Int" },
  arguments: {},
  offeredIn: OFFERED,
  includeNames: [],
  reads: { properties: false, vector: false, extras: false },
  values: async (rows) => rows.map((_, i) => i),
};

/** How many letters a text has of each kind: another vector for each module. */
function vectorOf(texts: readonly string[], shift: number): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const letter of texts.join(""))
    vector[(letter.charCodeAt(0) + shift) % DIMENSIONS] = shift - letter.charCodeAt(0) / 128;
  return vector;
}

/** How often texts were corrected. */
let corrections = 0;

function textModule(name: string, shift: number): Module {
  const told: AdditionalProperty = {
    name: "told",
    output: { type: "String" },
    arguments: {},
    offeredIn: OFFERED,
    includeNames: ["told"],
    reads: { properties: false, vector: true, extras: false },
    values: async (rows, given, { vector, argument }) =>
      rows.map(({ object }) => ({
        module: name,
        ...given,
        dimensions: object.vector?.length ?? null,
        searched: vector === undefined ? null : [...vector],
        argument: argument === undefined ? null : argument.texts.map(({ text }) => text),
      })),
  };
  return {
    name,
    vectorizer: {
      vectorize: async () => [],
      vectorizeTexts: async (texts) => {
        if (texts.includes(`fails in ${name}`)) throw new ShoalError("invalid", `${name} does not know it`);
        return vectorOf(texts, shift);
      },
    },
    searchArguments: [NEAR_TEXT],
    additionalProperties: [told, NUMBER],
    textTransformer: {
      transform: async (texts) => {
        corrections++;
        return texts.map((text) => text.replaceAll("z", "a"));
      },
    },
    meta: async () => ({}),
    [Symbol.asyncDispose]: async () => {},
  };
}

const CLASSES = ["Apple", "Banana", "Cherry", "Plain"];
const VECTORIZERS: Readonly<Record<string, string>> = { Apple: "one", Banana: "two", Cherry: "one", Plain: "none" };
const SHIFTS: Readonly<Record<string, number>> = { one: 3, two: 1 };

function setUp() {
  const objects = world(11, 300, CLASSES);
  const records = CLASSES.map((name) => {
    const one = record(name);
    return { ...one, definition: { ...one.definition, vectorizer: VECTORIZERS[name] } as ClassDefinition };
  });
  const shards = new MemoryShards(records, objects, 3);
  const modules = new EnabledModules([textModule("one", 3), textModule("two", 1)]);
  return { objects, engine: new QueryEngine({ schema: shards, router: shards, limits, modules }) };
}

const nearText = (value: object): ModuleSearch => ({ argument: "nearText", value: value as ModuleSearch["value"] });
const explore = { nearVector: undefined, nearObject: undefined, limit: 10, offset: undefined };

describe("a module's search", () => {
  it("is a search for the vector that the class's own module makes", async () => {
    const { engine } = setUp();
    for (const className of ["Apple", "Banana"]) {
      const moduleSearches = [nearText({ concepts: ["some text"], certainty: 0.3 })];
      const vector = vectorOf(["some text"], SHIFTS[VECTORIZERS[className] ?? ""] ?? 0);
      const expected = await engine.get(
        getQuery({ className, limit: 20, nearVector: { vector, certainty: 0.3 } }),
        context,
      );
      expect(expected.length).toBeGreaterThan(3);
      expect(await engine.get(getQuery({ className, limit: 20, moduleSearches }), context)).toEqual(expected);
    }
  });

  it("explores the classes of each vectorizer by a vector of its own, and no others", async () => {
    const { engine, objects } = setUp();
    const rows = await engine.explore({ ...explore, moduleSearches: [nearText({ concepts: ["abc"] })] }, context);
    const expected = ["Apple", "Banana", "Cherry"].flatMap((className) => {
      const own = objects.filter((object) => object.className === className);
      const vector = vectorOf(["abc"], SHIFTS[VECTORIZERS[className] ?? ""] ?? 0);
      return nearest(own, { vector, count: 10, fields: undefined }).map((hit) => ({ ...hit, className }));
    });
    expected.sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1));
    expect(rows.map(({ id, className }) => `${className} ${id}`)).toEqual(
      expected.slice(0, 10).map(({ id, className }) => `${className} ${id}`),
    );
  });

  it("corrects the texts of an exploration once for all vectorizers", async () => {
    const { engine } = setUp();
    const asked = (value: object) => engine.explore({ ...explore, moduleSearches: [nearText(value)] }, context);
    corrections = 0;
    expect(await asked({ concepts: ["zbz"], autocorrect: true })).toEqual(await asked({ concepts: ["aba"] }));
    expect(corrections).toBe(1);
  });

  it("is refused with more text than a model would read", async () => {
    const { engine } = setUp();
    const search = (value: object) =>
      engine.get(getQuery({ className: "Apple", moduleSearches: [nearText(value)] }), context);
    const refused = "'nearText' has texts of 100001 characters, at most 100000 are allowed";
    await expect(search({ concepts: ["a".repeat(100_000)] })).resolves.not.toHaveLength(0);
    await expect(search({ concepts: ["a".repeat(100_000), "b"] })).rejects.toThrow(refused);
    const moveTo = { concepts: ["a".repeat(100_001)], force: 0.5 };
    await expect(search({ concepts: ["a"], moveTo })).rejects.toThrow(refused);
    await expect(
      engine.explore({ ...explore, moduleSearches: [nearText({ concepts: ["a".repeat(100_001)] })] }, context),
    ).rejects.toThrow(refused);
  });

  it("leaves out a vectorizer that makes nothing of it, unless all do", async () => {
    const { engine } = setUp();
    const rows = await engine.explore(
      { ...explore, moduleSearches: [nearText({ concepts: ["fails in two"] })] },
      context,
    );
    expect(new Set(rows.map(({ className }) => VECTORIZERS[className]))).toEqual(new Set(["one"]));
    const both = nearText({ concepts: ["fails in two", "fails in one"] });
    await expect(engine.explore({ ...explore, moduleSearches: [both] }, context)).rejects.toThrow(
      "one does not know it",
    );
  });

  it("moves to the stored vector of an object", async () => {
    const { engine, objects } = setUp();
    const target = objects.find(({ className }) => className === "Plain");
    const start = vectorOf(["abc"], 3);
    const vector = start.map((one, i) => one * 0.6 + (target?.vector?.[i] ?? 0) * 0.4);
    const moveTo = { objects: [{ id: target?.id ?? "" }], force: 0.8 };
    const search = { className: "Apple", limit: 5, fields: { properties: false, vector: false, extras: false } };
    expect(
      await engine.get(getQuery({ ...search, moduleSearches: [nearText({ concepts: ["abc"], moveTo })] }), context),
    ).toEqual(await engine.get(getQuery({ ...search, nearVector: { vector, certainty: undefined } }), context));
    const unknown = { objects: [{ id: "00000000-0000-0000-0000-00000000000f" }], force: 0.8 };
    await expect(
      engine.get(getQuery({ ...search, moduleSearches: [nearText({ concepts: ["abc"], moveTo: unknown })] }), context),
    ).rejects.toThrow(
      "nearText: moveTo: no object with id '00000000-0000-0000-0000-00000000000f' is there, or it has no vector",
    );
  });

  it("has all its rows, also when only what reads nothing of them is wanted", async () => {
    const { engine } = setUp();
    const fields = { properties: false, vector: false, extras: false };
    const additional = [{ name: "number", given: {} }];
    const query = { className: "Apple", limit: 3, fields, additional };
    for (const moduleSearches of [[nearText({ concepts: ["abc"] })], []]) {
      const rows = await engine.get(getQuery({ ...query, moduleSearches }), context);
      expect(rows.map((row) => row.additional)).toEqual([[0], [1], [2]]);
    }
  });

  it("corrects its texts when that is asked for; others see them as they were given", async () => {
    const { engine } = setUp();
    const additional = [{ name: "told", given: {} }];
    const get = (value: object) =>
      engine.get(getQuery({ className: "Apple", limit: 1, additional, moduleSearches: [nearText(value)] }), context);
    const [row] = await get({ concepts: ["zbz"], autocorrect: true });
    expect(row?.additional).toEqual([
      { module: "one", dimensions: DIMENSIONS, searched: [...vectorOf(["aba"], 3)], argument: ["zbz"] },
    ]);
    const [plain] = await get({ concepts: ["zbz"] });
    expect(plain?.additional).toMatchObject([{ searched: [...vectorOf(["zbz"], 3)] }]);
  });

  it.each([
    [
      [nearText({ concepts: ["a"] }), { argument: "ask", value: {} }],
      {},
      "got 'nearText' and 'ask': choose one of them",
    ],
    [
      [nearText({ concepts: ["a"] })],
      { nearVector: { vector: new Float32Array(4), certainty: undefined } },
      "got 'nearText' and 'nearVector': choose one of them",
    ],
    [
      [nearText({ concepts: ["a"] })],
      {
        nearVector: { vector: new Float32Array(4), certainty: undefined },
        nearObject: { id: "x", beacon: undefined, certainty: undefined },
      },
      "got 'nearText' and 'nearVector' and 'nearObject': choose one of them",
    ],
  ])("conflicts with others", async (moduleSearches, others, message) => {
    const { engine } = setUp();
    await expect(engine.get(getQuery({ className: "Apple", moduleSearches, ...others }), context)).rejects.toThrow(
      message,
    );
    await expect(engine.explore({ ...explore, moduleSearches, ...others }, context)).rejects.toThrow(message);
  });
});

describe("what modules add", () => {
  it("comes from the class's own module, in the order of the requests, with what it reads", async () => {
    const { engine } = setUp();
    const additional = [
      { name: "told", given: { n: 1 } },
      { name: "told", given: { n: 2 } },
    ];
    for (const [className, module] of [
      ["Banana", "two"],
      ["Apple", "one"],
      ["Plain", "one"],
    ] as const) {
      const rows = await engine.get(getQuery({ className, limit: 3, additional }), context);
      expect(rows).toHaveLength(3);
      for (const row of rows) {
        expect(row.additional).toMatchObject([
          { module, n: 1, dimensions: DIMENSIONS },
          { module, n: 2, searched: null },
        ]);
      }
    }
  });

  it("is refused where it is not offered, and when it is not known", async () => {
    const { engine } = setUp();
    const [object] = await engine.list(
      {
        className: "Apple",
        after: undefined,
        limit: 1,
        offset: 0,
        fields: { properties: true, vector: true, extras: true },
      },
      context,
    );
    if (object === undefined) throw new Error("no object");
    const told = [{ name: "told", given: {} }];
    expect(await engine.additional([object], told, "restObject", context)).toMatchObject([[{ module: "one" }]]);
    await expect(engine.additional([object], told, "restList", context)).rejects.toThrow(
      "_additional.told is not offered here: no enabled module answers it in such a request",
    );
    const other = [{ name: "other", given: {} }];
    await expect(engine.additional([object], other, "restObject", context)).rejects.toThrow(
      "_additional.other is not offered here: no enabled module answers it in such a request",
    );
  });
});
