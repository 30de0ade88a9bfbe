import { holdLinks } from "@shoal/native";
import { expect, it } from "vitest";
import { createVectorIndex } from "./index.js";
import { ids } from "./testing/ids.js";
import { seededVectors } from "./testing/seeded-vectors.js";

const SETTINGS = { dimensions: 16, maxConnections: 16, efConstruction: 48 };
const SEARCH = {
  ef: -1,
  targetRecall: 0.98,
  flatSearchCutoff: 0,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
};
const ROWS = 12_000;

it("vectors wait unlinked while links are held, and are found", async () => {
  const release = holdLinks();
  await using index = await createVectorIndex(SETTINGS, SEARCH);
  const vectors = seededVectors(5).clustered(ROWS, SETTINGS.dimensions, 30);
  index.put(ids(0, ROWS), vectors, 1);
  for (const document of [0, 5_000, ROWS - 1]) {
    const query = vectors.slice(document * SETTINGS.dimensions, (document + 1) * SETTINGS.dimensions);
    const { documents } = await index.search(query, 1);
    expect([...documents]).toEqual([document]);
  }
  expect(index.statistics().unindexed).toBe(ROWS);
  release();
  await expect.poll(() => index.statistics().unindexed, { timeout: 20_000 }).toBe(0);
});

it("whoever waits for links ends that", async () => {
  holdLinks();
  await using index = await createVectorIndex(SETTINGS, SEARCH);
  index.put(ids(0, ROWS), seededVectors(6).clustered(ROWS, SETTINGS.dimensions, 30), 1);
  await index.linked();
  expect(index.statistics().unindexed).toBe(0);
});
