import { bench, describe } from "vitest";
import { AggregateWorld } from "./testing/aggregate-world.js";
import { allOf } from "./testing/shop.js";

const COUNT = 100_000;
const PROPERTIES = [
  { name: "category", dataType: ["string"] },
  { name: "text", dataType: ["text"] },
  { name: "rank", dataType: ["int"] },
  { name: "price", dataType: ["number"] },
  { name: "born", dataType: ["date"] },
];

const world = new AggregateWorld(PROPERTIES);
for (let start = 0; start < COUNT; start += 10_000) {
  await world.put(
    Array.from({ length: 10_000 }, (_, at) => {
      const document = start + at;
      const born = new Date(1.5e12 + (document % 5000) * 1000).toISOString().replace(".000Z", "Z");
      const price = ((document * 7919) % 100_000) / 100;
      return [
        document,
        { born, category: `category ${document % 10}`, price, rank: (document * 31) % COUNT, text: `word${document}` },
      ] as const;
    }),
  );
}
const tenth = Array.from({ length: COUNT / 10 }, (_, at) => at * 10 + 3);

/** With the distribution, or with top occurrences, when `top` is more than 1. */
function of(name: string, top = 1) {
  return PROPERTIES.filter((property) => property.name === name).map((property) => ({
    ...allOf(property, top),
    distribution: top > 1 && (name === "rank" || name === "price"),
  }));
}

describe("100,000 objects", () => {
  bench("count", async () => void (await world.aggregate({ isWhole: true })));
  bench(
    "mean, min, max of an int",
    async () => void (await world.aggregate({ properties: of("rank"), isWhole: true })),
  );
  bench("mean, min, max of a number", async () => {
    await world.aggregate({ properties: of("price"), isWhole: true });
  });
  bench("median of a number", async () => void (await world.aggregate({ properties: of("price", 2), isWhole: true })));
  bench("top occurrences of 10 texts", async () => {
    await world.aggregate({ properties: of("category"), isWhole: true });
  });
  bench("top occurrences of 100,000 texts", async () => {
    await world.aggregate({ properties: of("text"), isWhole: true });
  });
  bench("earliest and latest", async () => void (await world.aggregate({ properties: of("born"), isWhole: true })));
  bench("groups of a string, count", async () => void (await world.aggregate({ groupBy: "category", isWhole: true })));
  bench("groups of a string, mean of an int", async () => {
    await world.aggregate({ groupBy: "category", properties: of("rank"), isWhole: true });
  });
  bench("groups of 100,000 ints, count", async () => void (await world.aggregate({ groupBy: "rank", isWhole: true })));
  bench("groups of 5,000 dates, count", async () => void (await world.aggregate({ groupBy: "born", isWhole: true })));
});

// Most of it is finding the documents by their ids.
describe("10,000 of 100,000 objects", () => {
  bench("count", async () => void (await world.aggregate({ isWhole: true }, tenth)));
  bench("mean, min, max of an int", async () => {
    await world.aggregate({ properties: of("rank"), isWhole: true }, tenth);
  });
  bench("groups of a string, count", async () => {
    await world.aggregate({ groupBy: "category", isWhole: true }, tenth);
  });
});
