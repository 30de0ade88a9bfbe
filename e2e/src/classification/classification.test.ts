import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf } from "../http-client.js";
import { ServerProcess } from "../server-process.js";
import { expectedVote } from "./expected-vote-suite.js";
import {
  classify,
  ended,
  importLabels,
  type KnownItem,
  knownLabels,
  labelledCount,
  nearestLabel,
  readItem,
  started,
} from "./known-labels.js";

const SEED = Number(process.env.SEED ?? 20261120);

let server: ServerProcess;

beforeAll(async () => {
  server = await ServerProcess.start({ env: { ENABLE_MODULES: "none", WIRE_PROFILE: "spec" } });
});

afterAll(() => server[Symbol.asyncDispose]());

async function clear(): Promise<void> {
  await server.http.delete("/v1/schema/Item");
  await server.http.delete("/v1/schema/Label");
}

describe(`classifications against brute force (seed ${SEED})`, () => {
  it("knn: every item gets what its neighbours say, with ties, filters and k", async () => {
    const random = seededRandom(SEED).next;
    for (const k of [1, 3, 4]) {
      const world = knownLabels(random, 4, 400);
      const { labels, items } = world;
      await importLabels(server.http, world);
      const isTraining = ({ number, label }: KnownItem) => label !== undefined && number < 350;
      const isSource = ({ number, label }: KnownItem) => label === undefined && number >= 20;
      const record = await classify(server.http, {
        type: "knn",
        settings: { k },
        filters: {
          trainingSetWhere: { path: ["number"], operator: "LessThan", valueInt: 350 },
          sourceWhere: { path: ["number"], operator: "GreaterThanEqual", valueInt: 20 },
        },
      });
      const sources = items.filter(isSource);
      expect(record).toMatchObject({
        status: "completed",
        meta: { count: sources.length, countSucceeded: sources.length },
      });
      expect(at(record, "meta", "countFailed")).toBeUndefined();
      const teachers = items.filter(isTraining);
      for (const item of items) {
        const found = await readItem(server.http, item.id);
        if (!isSource(item)) {
          expect(found.label).toBe(item.label === undefined ? undefined : labels[item.label]?.id);
          expect(found.meta).toBeUndefined();
          continue;
        }
        const wanted = expectedVote(item, teachers, k, (label) => labels[label]?.id ?? "");
        expect(found).toMatchObject({ label: wanted.label, count: 1, meta: wanted.meta });
        if (wanted.meta.losingCount === 0) expect(found.meta).not.toHaveProperty("meanLosingDistance");
        expect(found.classification).toMatchObject({
          ...{ basedOn: "text", classifiedFields: ["label"], scope: ["label"], id: record.id },
        });
      }
      await clear();
    }
  });

  it("zeroshot: every item gets the nearest label, filtered by targetWhere", async () => {
    const world = knownLabels(seededRandom(SEED + 1).next, 30, 200);
    await importLabels(server.http, world);
    const excluded = world.labels[3]?.id ?? "";
    const record = await classify(server.http, {
      ...{ type: "zeroshot", basedOnProperties: [] },
      filters: {
        targetWhere: {
          path: ["id"],
          operator: "Not",
          operands: [{ path: ["id"], operator: "Equal", valueString: excluded }],
        },
      },
    }).catch(() => undefined);
    // A path beside operands is refused.
    expect(record).toBeUndefined();
    const not = { operator: "Not", operands: [{ path: ["id"], operator: "Equal", valueString: excluded }] };
    const done = await classify(server.http, {
      type: "zeroshot",
      basedOnProperties: [],
      filters: { targetWhere: not },
    });
    expect(done).toMatchObject({ status: "completed" });
    const targets = world.labels.filter(({ id }) => id !== excluded);
    for (const item of world.items.filter(({ label }) => label === undefined)) {
      const found = await readItem(server.http, item.id);
      expect(found).toMatchObject({ label: nearestLabel(item, targets), count: 1, meta: {} });
      expect(found.classification).toMatchObject({ basedOn: null, classifiedFields: ["label"] });
    }
    const again = await classify(server.http, { type: "zeroshot" });
    expect(again).toMatchObject({
      status: "failed",
      error: "classification failed: no classes to be classified - did you run a previous classification already?",
      meta: { completed: "0001-01-01T00:00:00.000Z" },
    });
    await clear();
  });

  // covers: rest/10.2/unknown-type, rest/10.2/failed-items, rest/10.2/class-deleted
  it("what fails: unknown types, neighbours with two labels, a class that goes away", async () => {
    const world = knownLabels(seededRandom(SEED + 2).next, 3, 60);
    const { http } = server;
    await importLabels(http, world);
    expect(await classify(http, { type: "bogus" })).toMatchObject({
      status: "failed",
      error: "classification failed: prepare classification: cannot classify: classifier bogus not found",
    });
    for (const { id, label } of world.items) {
      if (label === undefined) continue;
      const second = { beacon: `svc://localhost/${world.labels[(label + 1) % 3]?.id}` };
      await http.post(`/v1/objects/${id}/references/label`, second);
    }
    const record = await classify(http, { type: "knn" });
    const sources = world.items.filter(({ label }) => label === undefined).length;
    expect(record).toMatchObject({ status: "failed", meta: { count: sources, countFailed: sources } });
    expect(record.error).toMatch(
      /^classification failed: classify Item\/\S+: aggregate: extract beacons from neighbors: a knn training data object needs to have exactly one label: .*, data save error$/,
    );
    const id = await started(http, { type: "knn" });
    await clear();
    expect(at(await ended(http, id), "status")).toBe("failed");
  });

  // covers: rest/10.1/settings
  it("requests that cannot be done are 400", async () => {
    const { http } = server;
    await importLabels(http, { labels: [], items: [] });
    const good = { type: "knn", class: "Item", classifyProperties: ["label"], basedOnProperties: ["text"] };
    const refusal = async (change: object) => {
      const answer = await http.post("/v1/classifications", { ...good, ...change });
      return [answer.status, errorOf(answer)];
    };
    const refused = (text: string) => [400, `invalid classification: ${text}`];
    expect(await refusal({ class: "" })).toEqual(refused("class must be set"));
    expect(await refusal({ class: "Nix" })).toEqual(refused("class 'Nix' not found in schema"));
    expect(await refusal({ basedOnProperties: ["text", "number"], classifyProperties: [] })).toEqual(
      refused(
        "only a single property in basedOnProperties supported at the moment, got [text number], " +
          "classifyProperties must have at least one property",
      ),
    );
    expect(await refusal({ basedOnProperties: ["number"], classifyProperties: ["text"] })).toEqual(
      refused(
        "basedOnProperties: property 'number' must be of type 'text', " +
          "classifyProperties: property 'text' must be of reference type (cref)",
      ),
    );
    const where = { path: ["number"], operator: "Equal", valueInt: 1 };
    expect((await refusal({ filters: { targetWhere: where } }))[1]).toMatch(
      /^invalid classification: type is 'knn', but/,
    );
    expect((await refusal({ type: "zeroshot", filters: { trainingSetWhere: where } }))[0]).toBe(400);
    expect((await refusal({ filters: { sourceWhere: { path: ["number"], operator: "Equal" } } }))[1]).toMatch(
      /^field 'sourceWhere': invalid where filter: /,
    );
    expect(await refusal({ settings: { k: 0 } })).toEqual([
      400,
      "the settings of knn: settings.k must be a whole number from 1 to 1000, got 0",
    ]);
    expect(await refusal({ settings: { k: "3" } })).toEqual([
      400,
      'the settings of knn: settings.k must be a number, got the string "3"',
    ]);
    const unknown = await http.get("/v1/classifications/nix");
    expect([unknown.status, unknown.json]).toEqual([404, { error: [{ message: "no classification with id 'nix'" }] }]);
    const answer = await http.post("/v1/classification", { ...good, filters: { sourceWhere: where } });
    expect(answer.status).toBe(201);
    expect(at(answer.json, "filters")).toEqual({ sourceWhere: { ...where, operands: null } });
    await clear();
  });
});

describe("kill -9 during a classification", () => {
  // covers: decisions/both/classification-restart
  it("it goes on and each item is classified once", async () => {
    const random = seededRandom(SEED + 3).next;
    const world = knownLabels(random, 4, 8_000);
    const sources = world.items.filter(({ label }) => label === undefined);
    await importLabels(server.http, world);
    const id = await started(server.http, { type: "knn" });
    let kills = 0;
    for (; kills < 3; kills++) {
      await new Promise((resolve) => setTimeout(resolve, random() * 200));
      if (at((await server.http.get(`/v1/classifications/${id}`)).json, "status") !== "running") break;
      await server.kill();
      await server.launch();
    }
    expect(kills).toBeGreaterThan(0);
    expect(await ended(server.http, id)).toMatchObject({
      status: "completed",
      meta: { count: sources.length, countSucceeded: sources.length },
    });
    const teachers = world.items.filter(({ label }) => label !== undefined);
    for (const item of sources.filter((_, place) => place % 40 === 0)) {
      const wanted = expectedVote(item, teachers, 3, (label) => world.labels[label]?.id ?? "");
      const found = await readItem(server.http, item.id);
      expect(found).toMatchObject({ label: wanted.label, count: 1, meta: wanted.meta, classification: { id } });
    }
    expect(await labelledCount(server.http)).toBe(world.items.length);
  });
});
