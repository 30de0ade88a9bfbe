import { gloveWords, type WordNetNoun, wordNetNouns } from "@shoal/data-sets";
import { afterAll, beforeAll, expect, it } from "vitest";
import { at, graphqlErrors, type Row } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

const NOUNS = 400;
const LIMIT = 10;
/** Words that are used: rare ones have vectors that say little. */
const FREQUENT = 20_000;

let server: ServerProcess;
let nouns: readonly WordNetNoun[];

beforeAll(async () => {
  const frequent = new Set((await gloveWords({ count: FREQUENT })).words);
  const known = wordNetNouns().filter(({ word }) => word.length > 2 && frequent.has(word));
  const step = Math.floor(known.length / NOUNS);
  nouns = Array.from({ length: NOUNS }, (_, number) => known[number * step]).filter((noun) => noun !== undefined);
  server = await ServerProcess.start({ env: { ENABLE_MODULES: "text2vec-contextionary" } });
  const made = await server.http.post("/v1/schema", {
    class: "Meaning",
    vectorizer: "text2vec-contextionary",
    moduleConfig: { "text2vec-contextionary": { vectorizeClassName: false } },
    properties: [{ name: "gloss", dataType: ["text"] }],
  });
  expect(made.status, made.text).toBe(200);
  for (let from = 0; from < nouns.length; from += 100) {
    const objects = nouns.slice(from, from + 100).map(({ gloss }) => ({ class: "Meaning", properties: { gloss } }));
    const stored = await server.http.post("/v1/batch/objects", { objects });
    expect(stored.status, stored.text).toBe(200);
    expect(stored.text).not.toContain('"errors":{');
  }
});
afterAll(() => server[Symbol.asyncDispose]());

it("nearText of a noun finds what the noun means, without the noun in its text", async () => {
  expect(nouns).toHaveLength(NOUNS);
  let found = 0;
  let asked = 0;
  for (const { word, gloss } of nouns) {
    if (gloss.toLowerCase().split(/\W+/).includes(word)) continue;
    asked++;
    const query = `{ Get { Meaning(nearText: { concepts: ["${word}"] }, limit: ${LIMIT}) { gloss } } }`;
    const answer = await server.http.graphql(query);
    expect(graphqlErrors(answer)).toEqual([]);
    const rows = at(answer.json, "data", "Get", "Meaning") as readonly Row[];
    expect(rows).toHaveLength(LIMIT);
    if (rows.some((row) => row.gloss === gloss)) found++;
  }
  expect(asked).toBeGreaterThan(0.9 * NOUNS);
  // By chance it would be LIMIT of NOUNS, 1 of 40; measured: 259 of 380.
  expect(found / asked).toBeGreaterThan((24 * LIMIT) / NOUNS);
});
