import { articlesOfTopics } from "@shoal/data-sets";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at } from "../http-client.js";
import { importObjects } from "../import-objects.js";
import { ServerProcess } from "../server-process.js";
import { TOPICS } from "./known-articles.js";
import { distance, ended } from "./known-labels.js";

const ARTICLES = 1_200;
const K = 5;
const articles = articlesOfTopics([...TOPICS.keys()]).slice(0, ARTICLES);
const topicIds = new Map([...TOPICS.keys()].map((topic, place) => [topic, id(900_000 + place)]));

function id(place: number): string {
  // Spread over the ids, in no order of the articles.
  const first = ((place * 2_654_435_761) >>> 0).toString(16).padStart(8, "0");
  return `${first}-0000-4000-8000-${place.toString(16).padStart(12, "0")}`;
}

const isOpen = (place: number): boolean => place % 3 === 2;
const open = articles.flatMap((_, place) => (isOpen(place) ? [place] : []));

let server: ServerProcess;
/** Of articles and topics, by id. */
const vectors = new Map<string, readonly number[]>();

beforeAll(async () => {
  server = await ServerProcess.start();
  const { http } = server;
  const vectorizer = "text2vec-contextionary";
  const moduleConfig = { [vectorizer]: { vectorizeClassName: false } };
  await http.post("/v1/schema", {
    class: "Topic",
    vectorizer,
    moduleConfig,
    properties: [{ name: "about", dataType: ["text"] }],
  });
  const properties = [
    { name: "body", dataType: ["text"] },
    ...["byNeighbours", "byMeaning", "byWords"].map((name) => ({ name, dataType: ["Topic"] })),
  ];
  await http.post("/v1/schema", { class: "Article", vectorizer, moduleConfig, properties });
  const topics = Array.from(TOPICS, ([topic, about]) => ({
    class: "Topic",
    id: topicIds.get(topic),
    properties: { about },
  }));
  await importObjects(http, topics);
  await importObjects(
    http,
    articles.map(({ body, topic }, place) => {
      const byNeighbours = isOpen(place)
        ? {}
        : { byNeighbours: [{ beacon: `svc://localhost/${topicIds.get(topic)}` }] };
      return { class: "Article", id: id(place), properties: { body, ...byNeighbours } };
    }),
  );
  for (const className of ["Topic", "Article"]) {
    for (let after = ""; ; ) {
      const { json } = await http.get(`/v1/objects?class=${className}&after=${after}&limit=500&include=vector`);
      const objects = at(json, "objects") as readonly { readonly id: string; readonly vector: readonly number[] }[];
      for (const object of objects) vectors.set(object.id, object.vector);
      if (objects.length < 500) break;
      after = objects.at(-1)?.id ?? "";
    }
  }
});

afterAll(() => server[Symbol.asyncDispose]());

/** Runs one over the open articles, and gives the topic's id that each got. */
async function topicsBy(type: string, property: string, settings?: object): Promise<ReadonlyMap<number, string>> {
  const body = { type, class: "Article", classifyProperties: [property], basedOnProperties: ["body"], settings };
  const started = await server.http.post("/v1/classifications", body);
  const record = await ended(server.http, String(at(started.json, "id")));
  expect(record).toMatchObject({ status: "completed" });
  const found = new Map<number, string>();
  for (const place of open) {
    const { json } = await server.http.get(`/v1/objects/${id(place)}`);
    found.set(place, String(at(json, "properties", property, 0, "beacon")).slice(-36));
  }
  return found;
}

const share = (found: ReadonlyMap<number, string>, wanted: (place: number) => string | undefined): number =>
  open.filter((place) => found.get(place) === wanted(place)).length / open.length;
const reuters = (place: number) => topicIds.get(articles[place]?.topic ?? "");
const vectorOf = (of: string) => vectors.get(of) ?? [];

describe("Reuters articles", () => {
  it("knn does as brute force does, and finds 94 of 100 topics", async () => {
    const found = await topicsBy("knn", "byNeighbours", { k: K });
    const labelled = articles.flatMap((_, place) => (isOpen(place) ? [] : [place]));
    const byForce = (place: number): string | undefined => {
      const from = vectorOf(id(place));
      const near = labelled
        .map((one) => ({ label: reuters(one) ?? "", distance: distance(from, vectorOf(id(one))) }))
        .sort((a, b) => a.distance - b.distance)
        .slice(0, K);
      const groups = new Map<string, number[]>();
      for (const one of near) groups.set(one.label, [...(groups.get(one.label) ?? []), one.distance]);
      const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length;
      return [...groups].sort(([, a], [, b]) => b.length - a.length || mean(a) - mean(b))[0]?.[0];
    };
    // Some articles came twice over the wire: equally near ones may have different topics.
    expect(share(found, byForce)).toBeGreaterThanOrEqual(0.995);
    expect(share(found, reuters)).toBeGreaterThanOrEqual(0.94);
  });

  it("zeroshot does as brute force does, and finds 4 of 5 topics", async () => {
    const found = await topicsBy("zeroshot", "byMeaning");
    const byForce = (place: number): string | undefined => {
      const from = vectorOf(id(place));
      const targets = [...topicIds.values()].map((one) => ({ one, distance: distance(from, vectorOf(one)) }));
      return targets.sort((a, b) => a.distance - b.distance)[0]?.one;
    };
    expect(share(found, byForce)).toBeGreaterThanOrEqual(0.995);
    expect(share(found, reuters)).toBeGreaterThanOrEqual(0.8);
  });

  it("text2vec-contextionary-contextual finds 4 of 5 topics", async () => {
    const found = await topicsBy("text2vec-contextionary-contextual", "byWords");
    expect(share(found, reuters)).toBeGreaterThanOrEqual(0.8);
  });
});
