import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, expect, it } from "vitest";
import { importArticles, knownArticles } from "../classification/known-articles.js";
import {
  ended,
  importLabels,
  knownLabels,
  labelledCount,
  nearestLabel,
  readItems,
  started,
} from "../classification/known-labels.js";
import { Cluster } from "../cluster/cluster.js";
import type { ClusterMember } from "../cluster/cluster-member.js";
import { ContextionaryProcess } from "../contextionary-process.js";
import { at, type HttpClient } from "../http-client.js";
import { testSeed } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";
import { CONTEXTIONARY_ROUTES, teach } from "./teach.js";

/** One range of a job holds them all: one gateway works on them. */
const ARTICLES = 300;
const ITEMS = 1_600;
const SECRET = "a-secret-of-contextionaries";
const MODULES = { ENABLE_MODULES: "text2vec-contextionary" };
const CONTEXTUAL = {
  ...{ type: "text2vec-contextionary-contextual", class: "Article", basedOnProperties: ["body"] },
  // Few words of a text are left, so that it matters in how many texts each of them is.
  settings: { tfidfCutoffPercentile: 30 },
};

const random = seededRandom(testSeed()).next;
const world = knownArticles(random, ARTICLES);

let contextionary: ContextionaryProcess;
let cluster: Cluster;
let gateways: readonly [ClusterMember, ClusterMember, ClusterMember];
/** With the same articles, and the words in its own process. */
let single: ServerProcess;

async function startCluster(): Promise<void> {
  contextionary = await ContextionaryProcess.start();
  const env = { ...MODULES, CONTEXTIONARY_URL: contextionary.address, CONTEXTIONARY_STORAGE_SECRET: SECRET };
  cluster = await Cluster.start({ gateways: 3, storageNodes: 2, etcdMembers: 0, env });
  const [first, second, third] = cluster.gateways;
  if (first === undefined || second === undefined || third === undefined) throw new Error("there are three gateways");
  gateways = [first, second, third];
  await importArticles(first.http, world);
}

async function startSingle(): Promise<void> {
  single = await ServerProcess.start({ env: MODULES });
  await importArticles(single.http, world);
}

beforeAll(async () => {
  await Promise.all([startCluster(), startSingle()]);
});
afterAll(async () => {
  for (const one of [cluster, single, contextionary]) await one?.[Symbol.asyncDispose]();
});

/** Every gateway says what the single server says, which is something. */
async function expectSame(path: string, ask: (http: HttpClient) => Promise<unknown>): Promise<void> {
  const wanted = await ask(single.http);
  expect(wanted, path).toContainEqual(expect.anything());
  for (const { name, http } of gateways) expect(await ask(http), `${path} at ${name}`).toEqual(wanted);
}

it("what one gateway imported has the vectors and words that a server makes of it in its own process", async () => {
  const path = `/v1/objects?class=Article&after=&limit=${ARTICLES}&include=vector,interpretation`;
  await expectSame(path, async (http) => {
    const objects = at((await http.get(path)).json, "objects") as readonly object[];
    return objects.map((object) => [at(object, "id"), at(object, "vector"), at(object, "additional")]);
  });
});

it.each([
  ["Article", "id certainty interpretation { source { concept weight occurrence } }"],
  ["Article", "id nearestNeighbors { neighbors { concept distance } }"],
  ["Topic", "id certainty nearestNeighbors { neighbors { concept } }"],
  ["Topic", "id semanticPath { path { concept distanceToQuery distanceToResult } } featureProjection { vector }"],
])("nearText for %s with %s is answered by every gateway as by that server", async (className, fields) => {
  const near = 'nearText: { concepts: ["price of petroleum"], moveAwayFrom: { concepts: ["coffee"], force: 0.5 } }';
  const query = `{ Get { ${className}(${near}, limit: 5) { _additional { ${fields} } } } }`;
  await expectSame(query, (http) => http.rows(className, query));
});

it("Explore is answered by every gateway as by that server", async () => {
  const query = '{ Explore(nearText: { concepts: ["gold mine"] }, limit: 8) { beacon className certainty } }';
  await expectSame(query, async (http) => at((await http.graphql(query)).json, "data", "Explore"));
});

it("a concept that one gateway is taught is known over all, also after kill -9 of the contextionary", async () => {
  const query = '{ Get { Article(nearText: { concepts: ["flimmerding"] }, limit: 3) { _additional { id } } } }';
  for (const { http } of [single, gateways[0]]) await teach(http, "flimmerding", "a cargo of coffee beans");
  await expectSame(query, (http) => http.rows("Article", query));
  await contextionary.kill();
  for (const { http } of gateways) {
    expect((await http.graphql(query)).text).toContain(`the contextionary at ${contextionary.address}: `);
    const stored = await http.post("/v1/objects", { class: "Topic", properties: { about: "tea" } });
    expect([stored.status, stored.text]).toEqual([503, expect.stringContaining(contextionary.address)]);
  }
  await contextionary.launch();
  for (const { http } of gateways) await expect.poll(() => http.rows("Article", query).catch(String)).toHaveLength(3);
  await expectSame(query, (http) => http.rows("Article", query));
});

/** Kills a gateway as soon as so much of a class is classified: mostly before it has reported what it wrote last. */
async function killAfter(gateway: ClusterMember, className: string, count: number): Promise<void> {
  await expect.poll(() => labelledCount(gateway.http, className), { interval: 1 }).toBeGreaterThanOrEqual(count);
  await gateway.kill();
}

it("S3: gateways keep what contextionaries store on their internal ports, for whoever knows the secret", async () => {
  const [first, second] = gateways;
  const path = `${CONTEXTIONARY_ROUTES}/extensions-storage/`;
  const put = { concept: "ofanother", vector: [1, 2], occurrence: 3, input: { definition: "a boat", weight: 1 } };
  const sent = (headers: Readonly<Record<string, string>>) =>
    fetch(`${first.plan.internalUrl}${path}ofanother`, { method: "PUT", body: JSON.stringify(put), headers });
  expect((await sent({})).status).toBe(401);
  expect((await sent({ Authorization: "Bearer a-secret-of-strangers" })).status).toBe(401);
  expect((await sent({ Authorization: `Bearer ${SECRET}` })).status).toBe(200);
  // As published containers send it, from a URL with user and password.
  const basic = { Authorization: `Basic ${Buffer.from(`shoal:${SECRET}`).toString("base64")}` };
  const all = async () =>
    (await (await fetch(`${second.plan.internalUrl}${path}`, { headers: basic })).text()).trim().split("\n");
  await expect.poll(async () => (await all()).map((line) => JSON.parse(line || "null"))).toContainEqual(put);
  expect((await fetch(`${second.plan.internalUrl}${path}`)).status).toBe(401);
});

it("classifications of two gateways that are killed half way are taken over, and each item is classified once", async () => {
  const [first, second, third] = gateways;
  const { labels, items } = knownLabels(random, 30, ITEMS, 0);
  await importLabels(third.http, { labels, items });
  // A job is taken up by the only gateway that runs.
  for (const other of [second, third]) other.pause();
  const contextual = await started(first.http, CONTEXTUAL);
  await killAfter(first, "Article", ARTICLES / 4);
  second.resume();
  const zeroshot = await started(second.http, { type: "zeroshot" });
  await killAfter(second, "Item", ITEMS / 4);
  third.resume();

  const alone = await started(single.http, CONTEXTUAL);
  expect(await ended(single.http, alone)).toMatchObject({ status: "completed" });
  expect(await ended(third.http, contextual)).toMatchObject({
    status: "completed",
    meta: { count: ARTICLES, countSucceeded: ARTICLES },
  });
  const wanted = await readItems(single.http, "Article");
  const articles = await readItems(third.http, "Article");
  expect([wanted.size, articles.size]).toEqual([ARTICLES, ARTICLES]);
  for (const [id, { label, meta }] of wanted) {
    expect(articles.get(id)).toMatchObject({ label, meta, count: 1, classification: { id: contextual } });
  }

  expect(await ended(third.http, zeroshot)).toMatchObject({
    status: "completed",
    meta: { count: ITEMS, countSucceeded: ITEMS },
  });
  const found = await readItems(third.http, "Item");
  expect(found.size).toBe(ITEMS);
  for (const item of items) {
    const label = nearestLabel(item, labels);
    expect(found.get(item.id)).toMatchObject({ label, count: 1, classification: { id: zeroshot } });
  }
});
