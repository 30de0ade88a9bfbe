import type { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { JsonObject, ShardFilter } from "@shoal/model";
import { plainMatches } from "@shoal/model/testing/plain-filter";
import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { IndexWorld, stateOf } from "./testing/index-world.js";
import { randomFilter, randomObject, WORLD_SCHEMA } from "./testing/random-world.js";

const text = (property: string, value: string, operator: "Equal" | "Like" = "Equal"): ShardFilter => ({
  operator,
  property,
  value: { kind: "text", values: [value] },
});

async function worldOf(objects: readonly JsonObject[], memoryBytes = 1 << 28): Promise<IndexWorld> {
  const world = new IndexWorld(WORLD_SCHEMA, memoryBytes);
  await world.commit(objects.map((properties, document) => ({ document, properties, time: 1000 })));
  return world;
}

describe("what an index refuses", () => {
  it.each(["hidden", "phone", "blob", "nowhere"])("a filter on %s, wherever it stands", async (name) => {
    const world = await worldOf([{ text: "a", hidden: "b", phone: { input: "1" }, blob: "YQ==" }]);
    const message = `property '${name}' has no index: either its indexInverted is false, or values of its data type are not indexed`;
    const filter: ShardFilter = { operator: "And", operands: [text("text", "nothing"), text(name, "b")] };
    for (const one of [text(name, "b"), filter]) {
      expect(() => world.index.matching(one)).toThrow(expect.objectContaining({ code: "invalid", message }));
    }
  });

  it("an object with a property that it does not know yet, until it does", async () => {
    const world = await worldOf([]);
    const change = { document: 0, before: undefined, after: stateOf({ later: "a b" }, 1, 1) };
    await expect(world.index.plan([change])).rejects.toMatchObject({
      code: "unavailable",
      retryAfterSeconds: 1,
      message: "shard 's1' of class 'Thing' does not know property 'later' yet: it follows the schema",
    });
    world.properties = [...WORLD_SCHEMA, { name: "later", dataType: ["text"] }];
    world.index.configure(world.properties);
    await world.commit([{ document: 0, properties: { later: "a b" }, time: 1 }]);
    expect(world.index.matching(text("later", "b"))).toMatchObject({ size: 1 });
  });

  it("to tell whether there is a value where nothing is indexed", async () => {
    const world = await worldOf([{ hidden: "b" }]);
    for (const name of ["hidden", "nowhere"]) {
      const isNull = { operator: "IsNull", property: name, value: { kind: "boolean", values: [true] } } as const;
      expect(() => world.index.matching(isNull)).toThrow(
        `property '${name}' has no index: either its indexInverted is false, or values of its data type are not indexed`,
      );
    }
  });

  it("patterns that are too long", async () => {
    const world = await worldOf([{ text: "a" }]);
    expect([...(await world.index.matching(text("text", "*".repeat(1024), "Like")))]).toEqual([0]);
    const long = text("text", "*".repeat(1025), "Like");
    for (const filter of [long, { operator: "And", operands: [text("text", "nothing"), long] } as const]) {
      expect(() => world.index.matching(filter)).toThrow(
        /a 'Like' pattern has at most 1024 characters, '\*{40}…' has more/,
      );
    }
  });

  it("to go on when the caller has gone", async () => {
    const world = await worldOf([{ text: "a" }]);
    world.reopen();
    const aborted = AbortSignal.abort(new Error("gone"));
    await expect(world.index.matching(text("text", "a"), { signal: aborted })).rejects.toThrow("gone");
    expect([...(await world.index.matching(text("text", "a")))]).toEqual([0]);
  });
});

describe("what an index reads", () => {
  const words = Array.from({ length: 300 }, (_, at) => ({ text: `w${at} shared`, int: at }));

  it("nothing when all is in memory, not even to write", async () => {
    const world = await worldOf(words);
    const store = world.store as MemoryStore;
    await store[Symbol.asyncDispose]();
    for (const filter of [text("text", "w7"), text("text", "w*", "Like")]) {
      expect(world.index.matching(filter)).not.toBeInstanceOf(Promise);
    }
    await world.index.plan([{ document: 300, before: undefined, after: stateOf({ text: "w7 new" }, 1, 1) }]);
  });

  it("the range of a term, and the whole only when it is asked for often", async () => {
    const world = await worldOf(words);
    world.reopen();
    expect([...(await world.index.matching(text("text", "w7")))]).toEqual([7]);
    expect(world.index.memoryBytes).toBeLessThan(2000);
    for (let count = 0; count < 40; count++) await world.index.matching(text("text", `w${count}`));
    expect(world.index.matching(text("text", "w7"))).not.toBeInstanceOf(Promise);
  });

  it("no rows, but for what only they can tell", async () => {
    const world = await worldOf([{ texts: ["red car", "blue"] }, { texts: ["red", "car"] }, { texts: ["car red"] }]);
    expect([...(await world.index.matching(text("texts", "blue")))]).toEqual([0]);
    expect([...(await world.index.matching(text("texts", "red*", "Like")))]).toEqual([0, 1, 2]);
    expect(world.rowsRead).toBe(0);
    expect([...(await world.index.matching(text("texts", "red car")))]).toEqual([0, 2]);
    expect(world.rowsRead).toBe(2);
  });
});

describe("a commit of very many words", () => {
  const words = (count: number, from: number) => Array.from({ length: count }, (_, at) => `w${from + at}`).join(" ");
  const found = async (world: IndexWorld, word: string) => [...(await world.index.matching(text("text", word)))];
  const put = (document: number, value: string, time: number) => ({ document, properties: { text: value }, time });

  it("is drafted in steps and gives up what it would take long to change in memory", async () => {
    const world = await worldOf([{ text: "w0 w5" }]);
    let steps = 0;
    let isOver = false;
    const count = () => {
      steps += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await world.commit([put(1, words(150_000, 0), 1)]);
    isOver = true;
    expect(steps).toBeGreaterThan(55);
    expect(world.index.memoryBytes).toBeLessThan(100_000);
    expect(await found(world, "w5")).toEqual([0, 1]);
    expect(await found(world, "w149999")).toEqual([1]);
    // What was left out of memory is right in the next commits, too.
    await world.commit([put(0, "w7", 2), put(2, "w5 new", 2)]);
    expect(await found(world, "w5")).toEqual([1, 2]);
    expect(await found(world, "w7")).toEqual([0, 1]);
    await world.commit([put(1, words(150_000, 100_000), 3)]);
    expect(await found(world, "w7")).toEqual([0]);
    expect(await found(world, "w149999")).toEqual([1]);
    expect(await found(world, "w249999")).toEqual([1]);
    await world.commit([{ document: 1, properties: undefined, time: 4 }]);
    expect(await found(world, "w149999")).toEqual([]);
    expect(await found(world, "w5")).toEqual([2]);
  });

  it.each([30_000, 150_000])("of %i reaches a cached copy that is on its way from the store", async (count) => {
    const world = await worldOf(Array.from({ length: 5_000 }, (_, at) => ({ text: `w${at} all` })));
    world.reopen();
    const cached = world.index.matching(text("text", "a*", "Like"));
    await world.commit([put(0, `${words(count, 10_000)} arrived`, 1)]);
    expect([...(await cached)].length).toBeGreaterThanOrEqual(4_999);
    await world.commit([put(1, "arrived", 2)]);
    expect([...(await world.index.matching(text("text", "arriv*", "Like")))]).toEqual([0, 1]);
    expect([...(await world.index.matching(text("text", "w0*", "Like")))]).toEqual([]);
  });
});

describe("a commit of a very long list", () => {
  const COUNT = 100_000;
  const target = (at: number) => ({
    beacon: `svc://localhost/00000000-0000-4000-8000-${String(at).padStart(12, "0")}`,
  });

  it.each([
    ["refs", target],
    ["refs", (at: number) => target(at % 20)],
    ["ints", (at: number) => at],
    ["texts", (at: number) => `w${at}`],
  ] as const)("is drafted in steps when it comes, changes and goes: %s", async (name, element) => {
    const world = await worldOf([]);
    const list = Array.from({ length: COUNT }, (_, at) => element(at));
    for (const value of [list, list.slice(1), undefined]) {
      using loop = new LoopCounter();
      await world.commit([{ document: 0, properties: value && { [name]: value }, time: 1 }]);
      expect(loop.iterations).toBeGreaterThan(20);
    }
  });
});

describe("what long values will take", () => {
  it("is announced before they are indexed: of what is indexed and changes", async () => {
    const world = await worldOf([]);
    const long = Array.from({ length: 20_000 }, (_, at) => `w${at}`).join(" ");
    const heard = async (before: JsonObject | undefined, after: JsonObject | undefined) => {
      let reported = -1;
      const state = (properties: JsonObject | undefined) => properties && stateOf(properties, 1, 1);
      const refused = new Error("no room");
      const admit = (bytes: number) => {
        reported = bytes;
        throw refused;
      };
      const change = { document: 0, before: state(before), after: state(after) };
      await expect(world.index.plan([change], admit)).rejects.toBe(refused);
      return reported;
    };
    const bytes = JSON.stringify(long).length;
    const about = (heardBytes: number, expected: number) => {
      expect(heardBytes).toBeGreaterThan(expected * 0.85);
      expect(heardBytes).toBeLessThanOrEqual(expected);
    };
    about(await heard(undefined, { text: long, blob: long, hidden: long }), bytes * 50);
    about(await heard({ text: long }, undefined), bytes * 50);
    expect(await heard({ text: long, int: 1 }, { text: long, int: 2 })).toBe(0);
    // What is in both is counted once.
    about(await heard({ text: long }, { text: `${long}x` }), bytes * (50 + 6) + 500);
    // Few different words take little, however often they come.
    const same = "word ".repeat(20_000);
    about(await heard(undefined, { text: same }), JSON.stringify(same).length * 6 + 500);
    const elements = (count: number) =>
      Array.from({ length: 20_000 }, (_, at) => `w${at % count} w${(at * 7) % count}`);
    about(await heard(undefined, { texts: elements(100) }), JSON.stringify(elements(100)).length * 6 + 150_000);
    about(await heard(undefined, { texts: elements(20_000) }), JSON.stringify(elements(20_000)).length * 50);
    const ints = Array.from({ length: 30_000 }, (_, at) => at);
    expect(await heard(undefined, { ints })).toBe(JSON.stringify(ints).length * 6);
    expect(await heard(undefined, { text: "short", ints: [1] })).toBe(0);
    // Nothing was begun.
    await world.commit([{ document: 0, properties: { text: long }, time: 1 }]);
    expect(world.index.matching(text("text", "w5"))).toMatchObject({ size: 1 });
  });
});

describe("memory that holds no cached copy at all", () => {
  it("is enough for everything", async () => {
    const random = seededRandom(12);
    const world = await worldOf([], 0);
    for (let step = 0; step < 5; step++) {
      const documents = [...new Set(random.list(30, () => random.below(60)))];
      await world.commit(
        documents.map((document) => ({ document, properties: randomObject(random), time: 1000 + step })),
      );
      expect(world.index.memoryBytes).toBe(0);
      for (let count = 0; count < 20; count++) {
        const filter = randomFilter(random);
        const expected = [...world.objects.values()].filter((object) => plainMatches(object, filter, WORLD_SCHEMA));
        expect((await world.index.matching(filter)).size).toBe(expected.length);
      }
    }
  });
});

describe("a damaged record", () => {
  it("fails what needs it, naming class, shard and property; nothing is ever answered wrongly", async () => {
    const random = seededRandom(5);
    const objects = Array.from({ length: 40 }, () => randomObject(random));
    const filters = Array.from({ length: 60 }, () => randomFilter(random, 1));
    const sound = await worldOf(objects);
    const keys: Uint8Array[] = [];
    for await (const chunk of sound.store.scan({})) keys.push(...chunk.map(({ key }) => key));
    let failures = 0;
    for (let round = 0; round < 60; round++) {
      const world = await worldOf(objects);
      (world.store as MemoryStore).damage(random.pick(keys), (envelope) => {
        const at = random.below(envelope.length);
        envelope[at] = (envelope[at] ?? 0) ^ (1 << random.below(8));
      });
      world.reopen();
      for (const filter of filters) {
        const found = await Promise.resolve(world.index.matching(filter)).catch((error: unknown) => error);
        if (found instanceof Error) {
          expect(found).toMatchObject({ code: "dataLoss" });
          expect(found.message).toMatch(/^the index of property '\w+' in shard 's1' of class 'Thing' is damaged: /);
          failures += 1;
        } else expect([...(found as Iterable<number>)]).toEqual([...(await sound.index.matching(filter))]);
      }
    }
    expect(failures).toBeGreaterThan(20);
  });
});

describe("records", () => {
  it("stay as they are on disk", async () => {
    const properties = {
      text: "Red car",
      int: 7,
      boolean: true,
      date: "1970-01-01T00:00:01.0000005Z",
      place: { latitude: 1.5, longitude: -2 },
      refs: [{ beacon: "svc://localhost/00000000-0000-4000-8000-00000000000a" }],
      string: `a\u0000b ${"x".repeat(257)}`,
      phone: { input: "1" },
      blob: "YQ==",
    };
    const world = new IndexWorld(WORLD_SCHEMA);
    await world.commit([{ document: 4097, properties, time: 1000 }]);
    const lines: string[] = [];
    for await (const chunk of world.store.scan({})) {
      for (const { key, value } of chunk) lines.push(`${printable(key)} = ${Buffer.from(value).toString("hex")}`);
    }
    expect(lines).toMatchInlineSnapshot(`
      [
        "c<03>int<00><00><00><20> = 000001000000000000001c400100",
        "c<04>date<00><00><00><20> = 000101000000000000408f400100f4010000",
        "c<04>refs<00><00><00><20> = 00000100000000000000f03f0100",
        "c<05>place<00><00><00><20> = 030002000101000000000000f83f00000000000000c0",
        "c<11>_creationTimeUnix<00><00><00><20> = 000001000000000000408f400100",
        "c<13>_lastUpdateTimeUnix<00><00><00><20> = 000001000000000000408f400100",
        "p<04>blob<01><00><ff><00><00><00><00><00><01> = 010100",
        "p<04>refs<05><00><ff><00><ff><00><ff><00><ff><00><ff><00><ff>@<00><ff><80><00><ff><00><ff><00><ff><00><ff><00><ff><00><ff><0a><00><00><00><00><00><01> = 010100",
        "p<04>text<01><00><ff><00><00><00><00><00><01> = 010100",
        "p<04>text<01><04><00><00><00><00><00><01> = 010100",
        "p<04>text<02>car<00><00><00><00><00><01> = 010100",
        "p<04>text<02>red<00><00><00><00><00><01> = 010100",
        "p<04>text<04>Red<20>car<00><00><00><00><00><01> = 010100",
        "p<05>phone<01><00><ff><00><00><00><00><00><01> = 010100",
        "p<06>string<01><00><ff><00><00><00><00><00><01> = 010100",
        "p<06>string<01><03><00><00><00><00><00><01> = 010100",
        "p<06>string<01><04><00><00><00><00><00><01> = 010100",
        "p<06>string<01><05><00><00><00><00><00><01> = 010100",
        "p<06>string<02>a<00><ff>b<00><00><00><00><00><01> = 010100",
        "p<06>string<03><15><eb><95><a4>b<ee><20><bd><91><a4><15><ae>-J<ed>4<00><00><00><00><00><01> = 010100",
        "p<07>boolean<01><00><ff><00><00><00><00><00><01> = 010100",
        "p<07>boolean<01><02><00><00><00><00><00><01> = 010100",
      ]
    `);
  });
});

function printable(key: Uint8Array): string {
  return Array.from(key, (byte) =>
    byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `<${byte.toString(16).padStart(2, "0")}>`,
  ).join("");
}
