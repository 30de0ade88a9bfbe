import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRocksStore } from "@shoal/kv";
import { plainMatches } from "@shoal/model/testing/plain-filter";
import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { IndexWorld } from "./testing/index-world.js";
import { randomFilter, randomObject, WORLD_SCHEMA } from "./testing/random-world.js";

it("agrees with a plain look at every object on RocksDB, too, in memory, after a restart and without memory", async () => {
  const folder = await mkdtemp(join(tmpdir(), "shoal-index-"));
  try {
    const random = seededRandom(31);
    await using store = await openRocksStore({ folder, ballastBytes: 0 });
    const world = new IndexWorld(WORLD_SCHEMA, 1 << 28, store);
    for (let step = 0; step < 4; step++) {
      const documents = [...new Set(random.list(80, () => random.below(200)))];
      const deleted = (document: number) => world.objects.has(document) && random.next() < 0.2;
      await world.commit(
        documents.map((document) => {
          return { document, properties: deleted(document) ? undefined : randomObject(random), time: 1000 + step };
        }),
      );
      for (const memoryBytes of [undefined, 1 << 28, 0]) {
        if (memoryBytes !== undefined) world.reopen(memoryBytes);
        for (let count = 0; count < 25; count++) {
          const filter = randomFilter(random);
          const expected = [...world.objects.values()].filter((object) => plainMatches(object, filter, WORLD_SCHEMA));
          const documents = expected.map(({ document }) => document).sort((a, b) => a - b);
          expect([...(await world.index.matching(filter))]).toEqual(documents);
        }
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
