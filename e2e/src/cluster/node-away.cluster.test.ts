import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, at, errorOf, graphqlErrors, type HttpClient } from "../http-client.js";
import { randomId, testSeed } from "../random-objects.js";
import { Cluster } from "./cluster.js";
import type { ClusterMember } from "./cluster-member.js";
import { classOnEach, nodeReports } from "./shard-owners.js";

const AWAY = "storage-1";
const OBJECTS = 20;
const { next } = seededRandom(testSeed());

function objects(className: string, count: number) {
  return Array.from({ length: count }, (_, n) => ({ class: className, id: randomId(next), vector: [1, n] }));
}

const WAYS: readonly (readonly [
  string,
  (node: ClusterMember) => Promise<void>,
  (node: ClusterMember) => Promise<void>,
])[] = [
  ["is killed", (node) => node.kill(), (node) => node.launch()],
  ["hangs", async (node) => node.pause(), async (node) => node.resume()],
  ["is stopped and stays away", async (node) => void (await node.stop()), (node) => node.launch()],
];

describe("F6: a storage node of three is away", () => {
  let cluster: Cluster;
  let node: ClusterMember;
  /** Classes of one shard, on the node and on the others, with the ids of their objects. */
  let lost = "";
  let live: readonly string[] = [];
  const idsOf = new Map<string, readonly string[]>();

  beforeAll(async () => {
    const env = { SHARD_WAIT_SECONDS: "2" };
    cluster = await Cluster.start({ gateways: 2, storageNodes: 3, etcdMembers: 0, env });
    node = cluster.member(AWAY);
    const { http, storageNodes } = cluster;
    const names = storageNodes.map(({ name }) => name);
    const classOf = await classOnEach(http, names, async (className) => {
      const properties = [{ name: "n", dataType: ["int"] }];
      const body = { class: className, properties, shardingConfig: { desiredCount: 1 } };
      expect((await http.post("/v1/schema", body)).status).toBe(200);
      idsOf.set(className, await imported(http, objects(className, OBJECTS)));
    });
    expect(await shardsOfNew(http, "Spread")).toEqual([1, 1, 1]);
    lost = classOf.get(AWAY) ?? "";
    live = names.flatMap((name) => (name === AWAY ? [] : (classOf.get(name) ?? [])));
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each(WAYS)("and %s: what does not need it goes on", async (way, take, giveBack) => {
    await take(node);
    try {
      // Before anybody knows, too.
      for (const { http } of cluster.gateways) await creates(http);
      for (const { http } of cluster.gateways) {
        const status = async () => (await nodeReports(http)).find(({ name }) => name === AWAY)?.status;
        await expect.poll(status, { timeout: 20_000 }).toBe("UNAVAILABLE");
      }
      for (const { http } of cluster.gateways) {
        await creates(http);
        await changes(http);
        await answers(http);
        await refuses(http);
        // A node that has announced its drain is expected back, and gets shards of new classes.
        if (way !== "is stopped and stays away") await places(http);
      }
    } finally {
      await giveBack(node);
    }
    await cluster.reached();
    const { http } = cluster;
    expect((await http.get(`/v1/objects/${randomId(next)}`)).status).toBe(404);
    const everywhere = await shardsOfNew(http, "Everywhere");
    expect(everywhere).toEqual([1, 1, 1]);
    expect((await http.delete("/v1/schema/Everywhere")).status).toBe(200);
  });

  /** POST with an id and without one, and the id is free no more. */
  async function creates(http: HttpClient): Promise<void> {
    const [first = "", second = ""] = live;
    for (const className of live) {
      const [body] = objects(className, 1);
      ok(await http.post("/v1/objects", body));
      ok(await http.post("/v1/objects", { class: className, vector: [1, 2] }));
      const taken = await http.post("/v1/objects", body);
      expect([taken.status, errorOf(taken)]).toEqual([422, `id '${body?.id}' already exists`]);
    }
    const id = idsOf.get(second)?.[0];
    const elsewhere = await http.post("/v1/objects", { class: first, id, vector: [1, 2] });
    expect([elsewhere.status, errorOf(elsewhere)]).toEqual([422, `id '${id}' already exists`]);
  }

  async function changes(http: HttpClient): Promise<void> {
    for (const className of live) {
      const [body] = objects(className, 1);
      ok(await http.post("/v1/objects", body));
      const path = `/v1/objects/${body?.id}`;
      expect((await http.put(path, { ...body, vector: [3, 4] })).status).toBeLessThan(300);
      expect((await http.patch(path, { class: className, vector: [5, 6] })).status).toBe(204);
      expect((await http.delete(path)).status).toBe(204);
      const unknown = { ...body, id: randomId(next) };
      expect((await http.put(`/v1/objects/${unknown.id}`, unknown)).status).toBe(404);
      expect((await http.patch(`/v1/objects/${unknown.id}`, { class: className })).status).toBeLessThan(500);
      await imported(http, objects(className, 10));
    }
  }

  async function answers(http: HttpClient): Promise<void> {
    for (const className of live) {
      for (const id of idsOf.get(className) ?? []) {
        expect((await http.get(`/v1/objects/${id}`)).status).toBe(200);
        expect((await http.send("HEAD", `/v1/objects/${id}`)).status).toBe(204);
      }
      ok(await http.get(`/v1/objects?class=${className}`));
      const near = "nearVector: {vector: [1, 2]}, limit: 5";
      const additional = "_additional { id }";
      expect(await http.rows(className, `{ Get { ${className}(${near}) { ${additional} } } }`)).toHaveLength(5);
      const count = await http.graphql(`{ Aggregate { ${className} { meta { count } } } }`);
      expect(graphqlErrors(count)).toEqual([]);
    }
  }

  /** What cannot be known; each message names the node and its shard. */
  async function refuses(http: HttpClient): Promise<void> {
    const [own] = idsOf.get(lost) ?? [];
    const [created] = objects(lost, 1);
    const unknown = `/v1/objects/${randomId(next)}`;
    const refused = await Promise.all([
      http.get(unknown),
      http.get(`/v1/objects/${own}`),
      http.post("/v1/objects", created),
      http.put(`/v1/objects/${own}`, { class: lost, id: own, vector: [1, 2] }),
      http.delete(unknown),
      http.get("/v1/objects"),
      http.get(`/v1/objects?class=${lost}`),
    ]);
    for (const answer of refused) {
      expect([answer.status, answer.headers.has("retry-after")], answer.text).toEqual([503, true]);
      expect(errorOf(answer)).toMatch(new RegExp(`shard '?\\w{12}'? of class '(${lost}|Spread)'.* node '${AWAY}'`));
    }
    expect((await http.send("HEAD", unknown)).status).toBe(503);
    const explored = await http.graphql("{ Explore(nearVector: {vector: [1, 2]}) { beacon } }");
    expect(explored.status).toBe(200);
    expect(graphqlErrors(explored)[0]).toMatch(new RegExp(`class '(${lost}|Spread)'.* node '${AWAY}'`));
  }

  /** New classes, made and by auto-schema, are where they can be used. */
  async function places(http: HttpClient): Promise<void> {
    // The server chooses ids whose shards are there.
    for (let at = 0; at < 20; at++) ok(await http.post("/v1/objects", { class: "Spread", vector: [1, at] }));
    expect((await shardsOfNew(http, "Made")).sort()).toEqual([0, 1, 2]);
    await imported(http, objects("Made", 40));
    await imported(http, objects("Seen", 40));
    for (const className of ["Made", "Seen"]) {
      ok(await http.post("/v1/objects", { class: className, vector: [1, 2] }));
      const listed = await http.get(`/v1/objects?class=${className}&limit=100`);
      expect((at(listed.json, "objects") as readonly unknown[]).length).toBe(41);
      ok(await http.delete(`/v1/schema/${className}`));
    }
  }

  /** Makes a class of as many shards as there are nodes: how many each node has of it. */
  async function shardsOfNew(http: HttpClient, className: string): Promise<number[]> {
    ok(await http.post("/v1/schema", { class: className }));
    const reports = await nodeReports(http);
    return reports.map(({ shards }) => shards.filter((shard) => shard.class === className).length);
  }

  function ok(answer: Answer): void {
    expect(answer.status, answer.text).toBe(200);
  }

  async function imported(http: HttpClient, batch: readonly { readonly id: string }[]): Promise<readonly string[]> {
    const answer = await http.post("/v1/batch/objects", { objects: batch });
    ok(answer);
    const items = answer.json as readonly unknown[];
    const faults = items.flatMap((item) => at(item, "result", "errors", "error", 0, "message") ?? []);
    expect(faults).toEqual([]);
    return batch.map(({ id }) => id);
  }
});
