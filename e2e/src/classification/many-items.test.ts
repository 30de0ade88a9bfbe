import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { ServerProcess } from "../server-process.js";
import { expectedVote } from "./expected-vote-suite.js";
import { classify, importLabels, knownLabels, labelledCount, readItem } from "./known-labels.js";

const SEED = Number(process.env.SEED ?? 20261120);
const ITEMS = 25_600;
/** As many as one search may give at most (`QUERY_MAXIMUM_RESULTS`). */
const RESULTS_MAX = 10_000;

it(`a classification goes through more items than a search gives (seed ${SEED})`, async () => {
  await using server = await ServerProcess.start({ env: { ENABLE_MODULES: "none", WIRE_PROFILE: "spec" } });
  const world = knownLabels(seededRandom(SEED).next, 5, ITEMS, 0.02);
  const [teachers, sources] = [true, false].map((has) =>
    world.items.filter(({ label }) => (label !== undefined) === has),
  );
  if (teachers === undefined || sources === undefined) throw new Error("there are no items");
  expect(sources.length).toBeGreaterThan(2 * RESULTS_MAX);
  await importLabels(server.http, world);
  const record = await classify(server.http, { type: "knn", settings: { k: 5 } });
  expect(record).toMatchObject({
    status: "completed",
    meta: { count: sources.length, countSucceeded: sources.length },
  });
  expect(await labelledCount(server.http)).toBe(ITEMS);
  for (const item of sources.filter((_, place) => place % 100 === 0)) {
    const wanted = expectedVote(item, teachers, 5, (label) => world.labels[label]?.id ?? "");
    const classification = { id: record.id };
    expect(await readItem(server.http, item.id)).toMatchObject({ ...wanted, count: 1, classification });
  }
});
