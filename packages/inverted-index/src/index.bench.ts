import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { PropertyDefinition, ShardFilter } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { bench, describe } from "vitest";
import { IndexWorld, type ObjectChange } from "./testing/index-world.js";

// CPU µs over 100,000 objects of the benchmark's class; run by `vitest bench --run packages/inverted-index`. README has figures.
const OBJECTS = 100_000;
const once = { time: 0, iterations: 1, warmupTime: 0, warmupIterations: 0, throws: true };

const SCHEMA: readonly PropertyDefinition[] = [
  { name: "text", dataType: ["text"] },
  { name: "category", dataType: ["string"] },
  { name: "rank", dataType: ["int"] },
  { name: "price", dataType: ["int"] },
];

const LETTERS = "etaoinshrdlucmfwypvbgkjqxz";

function word(random: SeededRandom): string {
  return Array.from({ length: 3 + random.below(8) }, () => LETTERS[Math.min(random.below(26), random.below(26))]).join(
    "",
  );
}

function objects(random: SeededRandom): ObjectChange[] {
  return Array.from({ length: OBJECTS }, (_, document) => {
    const properties = {
      text: `${word(random)}${random.below(5) === 0 ? `${random.below(10_000)}` : ""}`,
      category: `category-${random.below(10)}`,
      rank: document,
      price: random.below(1000),
    };
    return { document, properties, time: 1_700_000_000_000 + (document >>> 7) };
  });
}

async function measure(name: string, count: number, run: () => unknown): Promise<void> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  console.log(`${name.padEnd(58)} ${((user + system) / count).toFixed(2).padStart(10)} CPU µs`);
}

/** What the store itself takes is not counted: batches go nowhere until the end. */
class LateStore extends MemoryStore {
  readonly late: Parameters<MemoryStore["write"]>[0][number][] = [];
  records = 0;
  isLate = true;

  override async write(batch: Parameters<MemoryStore["write"]>[0]): Promise<void> {
    this.records += batch.length;
    if (this.isLate) for (const change of batch) this.late.push(change);
    else await super.write(batch);
  }

  async catchUp(): Promise<void> {
    this.isLate = false;
    await super.write(this.late);
    this.late.length = 0;
  }
}

const FILTERS: Readonly<Record<string, (random: SeededRandom) => ShardFilter>> = {
  "string Equal, 10 %": (random) => equal(`category-${random.below(10)}`),
  "text Equal, 1 object": (random) => ({
    operator: "Equal",
    property: "text",
    value: { kind: "text", values: [word(random)] },
  }),
  "int LessThan, 1 %": () => below("price", 10),
  "int LessThan, 10 %": () => below("price", 100),
  "int LessThan, 50 %": () => below("price", 500),
  "And(string Equal, int LessThan 50 %)": (random) => ({
    operator: "And",
    operands: [equal(`category-${random.below(10)}`), below("price", 500)],
  }),
  "And(string Equal, int LessThan 1 %)": (random) => ({
    operator: "And",
    operands: [equal(`category-${random.below(10)}`), below("price", 10)],
  }),
  "Like xx*": (random) => like(`${word(random).slice(0, 2)}*`),
  "Like *xx*": (random) => like(`*${word(random).slice(0, 2)}*`),
};

const equal = (text: string): ShardFilter => ({
  operator: "Equal",
  property: "category",
  value: { kind: "string", values: [text] },
});
const like = (pattern: string): ShardFilter => ({
  operator: "Like",
  property: "text",
  value: { kind: "text", values: [pattern] },
});
const below = (property: string, value: number): ShardFilter => ({
  operator: "LessThan",
  property,
  value: { kind: "int", values: [value] },
});

describe("inverted index", () => {
  bench(
    "100,000 objects",
    async () => {
      const random = seededRandom(1);
      const store = new LateStore();
      const world = new IndexWorld(SCHEMA, 1 << 30, store);
      const all = objects(random);
      await measure("import, 100 a commit: an object", 50_000, async () => {
        for (let at = 0; at < 50_000; at += 100) await world.commit(all.slice(at, at + 100));
      });
      console.log(
        `${(store.records / 50_000).toFixed(2)} records an object, ${world.index.memoryBytes / 1e6} MB counted`,
      );
      await measure("import, 8 a commit: an object", 50_000, async () => {
        for (let at = 50_000; at < OBJECTS; at += 8) await world.commit(all.slice(at, Math.min(at + 8, OBJECTS)));
      });
      const merged = (document: number) => ({ ...(all[document]?.properties ?? {}), price: 5000 + document });
      await measure("one property of an object changes, 16 a commit: an object", 4800, async () => {
        for (let at = 0; at < 4800; at += 16) {
          const documents = Array.from({ length: 16 }, () => random.below(OBJECTS));
          const changes = [...new Set(documents)].map((document) => ({
            document,
            properties: merged(document),
            time: 1,
          }));
          await world.commit(changes);
        }
      });
      await store.catchUp();
      console.log(
        `resident ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB, counted ${world.index.memoryBytes / 1e6} MB`,
      );
      for (const [name, make] of Object.entries(FILTERS)) {
        const runs = name.startsWith("Like *") ? 50 : 3000;
        for (let i = 0; i < runs; i++) await world.index.matching(make(random));
        await measure(`in memory: ${name}`, runs, async () => {
          for (let i = 0; i < runs; i++) await world.index.matching(make(random));
        });
      }
      for (const [state, bytes] of [["first after a restart", 1 << 30] as const, ["without memory", 0] as const]) {
        for (const [name, make] of Object.entries(FILTERS)) {
          world.reopen(bytes);
          if (bytes === 0) await world.index.matching(make(random));
          await measure(`${state}: ${name}`, 1, () => world.index.matching(make(random)));
        }
      }
    },
    once,
  );
});
