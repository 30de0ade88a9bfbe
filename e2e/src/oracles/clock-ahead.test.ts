import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classify, importLabels, knownLabels, labelledCount } from "../classification/known-labels.js";
import { at, type HttpClient, type Row } from "../http-client.js";
import { randomId, testSeed } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** A module that the process loads first: its clock is a day ahead. */
const AHEAD = `data:text/javascript,const now=Date.now;Date.now=()=>now()+${DAY_MS}`;
const random = seededRandom(testSeed());
const labelled = knownLabels(random.next, 3, 60);

let server: ServerProcess;
let http: HttpClient;
/** When the clock was right again. */
let rightMs: number;

/** Objects one by one and in batches, in two classes of three shards. */
async function create(count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => randomId(random.next));
  const objects = ids.map((id) => ({ class: random.pick(["Car", "Truck"]), id, vector: [random.next(), 1] }));
  const single = objects.splice(0, count / 2);
  for (const object of single) expect((await http.post("/v1/objects", object)).status).toBe(200);
  expect((await http.post("/v1/batch/objects", { objects })).status).toBe(200);
  return ids;
}

async function list(query: string): Promise<readonly Row[]> {
  const answer = await http.get(`/v1/objects${query}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return at(answer.json, "objects") as readonly Row[];
}

beforeAll(async () => {
  server = await ServerProcess.start({ env: { ENABLE_MODULES: "none", NODE_OPTIONS: `--import "${AHEAD}"` } });
  http = server.http;
  for (const name of ["Car", "Truck"]) {
    await http.post("/v1/schema", { class: name, shardingConfig: { desiredCount: 3 } });
  }
  await create(20);
  await importLabels(http, labelled);
  await server.stop();
  rightMs = Date.now();
  await server.launch({ NODE_OPTIONS: "" });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("F13: after the clock was a day ahead", () => {
  it("new objects have the time of the clock, and the newest of all shards still come first, page by page", async () => {
    const ids = new Set(await create(20));
    const all = (await list("?class=Car&limit=100")).concat(await list("?class=Truck&limit=100"));
    expect(all).toHaveLength(40);
    for (const { id, creationTimeUnix } of all) {
      const isNew = ids.has(String(id));
      expect(Number(creationTimeUnix) < rightMs + DAY_MS / 2, `${id} at ${creationTimeUnix}`).toBe(isNew);
      if (isNew) expect(Number(creationTimeUnix)).toBeGreaterThanOrEqual(rightMs);
    }
    const time = ({ creationTimeUnix }: Row): number => Number(creationTimeUnix);
    for (const className of ["Car", "Truck"]) {
      const ofClass = all.filter((row) => row.class === className);
      const expected = ofClass.sort((a, b) => time(b) - time(a) || (String(a.id) < String(b.id) ? -1 : 1));
      const pages: Row[] = [];
      for (let offset = 0; offset < ofClass.length; offset += 3) {
        pages.push(...(await list(`?class=${className}&limit=3&offset=${offset}`)));
      }
      expect(pages.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    }
  });

  it("what changes has the time of the clock", async () => {
    const [newest] = await list("?class=Car&limit=1");
    expect(Number(newest?.creationTimeUnix)).toBeGreaterThan(rightMs + DAY_MS / 2);
    expect((await http.patch(`/v1/objects/${newest?.id}`, { class: "Car", vector: [0, 1] })).status).toBe(204);
    const changed = Number(at((await http.get(`/v1/objects/${newest?.id}`)).json, "lastUpdateTimeUnix"));
    expect(changed).toBeGreaterThanOrEqual(rightMs);
    expect(changed).toBeLessThan(rightMs + DAY_MS / 2);
  });

  it("knn learns from what was labelled by that clock", async () => {
    expect(await labelledCount(http)).toBeLessThan(labelled.items.length);
    expect(await classify(http, { type: "knn", settings: { k: 3 } })).toMatchObject({ status: "completed" });
    expect(await labelledCount(http)).toBe(labelled.items.length);
  });
});
