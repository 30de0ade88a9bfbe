import { expect, it } from "vitest";
import { createVectorIndex } from "./index.js";
import { seededVectors } from "./testing/seeded-vectors.js";

it("a search that is given up fails with the reason of its signal, is cancelled, and holds up nobody", async () => {
  const random = seededVectors(24);
  const settings = { dimensions: 64, maxConnections: 32, efConstruction: 64 };
  const search = {
    ef: -1,
    targetRecall: 0.98,
    flatSearchCutoff: 40_000,
    unindexedVectorsMax: 40_000,
    cleanupIntervalSeconds: 0,
  };
  await using index = createVectorIndex(settings, search);
  const ids = Uint32Array.from({ length: 40_000 }, (_, id) => id);
  index.put(ids, random.vectors(40_000, 64), 1);
  const query = new Float32Array(64).fill(1);
  const allowed = new Uint32Array(1250).fill(2 ** 32 - 1);
  const controller = new AbortController();
  const waiting = { signal: controller.signal };
  // More flat scans than any machine does before the first look.
  const searches = Array.from({ length: 1000 }, () => index.search(query, 40_000, { allowed, waiting }));
  const reason = new Error("too slow");
  controller.abort(reason);
  const ends = await Promise.allSettled(searches);
  expect(ends.some((end) => end.status === "rejected" && end.reason === reason)).toBe(true);
  expect(ends.filter((end) => end.status === "rejected" && end.reason !== reason)).toEqual([]);
  expect((await index.search(query, 3)).documents.length).toBe(3);
});
