import { afterAll, beforeAll, expect, it } from "vitest";
import { at, graphqlErrors, type HttpClient } from "../http-client.js";
import { CONTEXTIONARY_ROUTES, teach } from "../modules/teach.js";
import { lacks } from "../needs.js";
import { Cluster } from "./cluster.js";
import type { ClusterMember } from "./cluster-member.js";

const WITHIN_A_SECOND = { timeout: 1_000, interval: 5 };
const THINGS = ["a cheese of sheep milk", "a small boat with sails", "the tax of a village", "music for two violins"];

let cluster: Cluster;
let gateways: readonly [ClusterMember, ClusterMember];

// Two coordinators: what one of them was told has to reach the gateway that follows the other.
beforeAll(async () => {
  cluster = await Cluster.start({ gateways: 2, storageNodes: 1, coordinators: 2, etcdMembers: 1 });
  const [first, second] = cluster.gateways;
  if (first === undefined || second === undefined) throw new Error("there are two gateways");
  gateways = [first, second];
  const properties = [{ name: "name", dataType: ["text"] }];
  const made = await first.http.post("/v1/schema", {
    class: "Thing",
    vectorizer: "text2vec-contextionary",
    moduleConfig: { "text2vec-contextionary": { vectorizeClassName: false } },
    properties,
  });
  expect(made.status, made.text).toBe(200);
  for (const name of THINGS) {
    const stored = await first.http.post("/v1/objects", { class: "Thing", properties: { name } });
    expect(stored.status, stored.text).toBe(200);
  }
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** The thing that is nearest to a concept, or what is wrong. */
async function nearest(http: HttpClient, concept: string): Promise<unknown> {
  const answer = await http.graphql(
    `{ Get { Thing(nearText: { concepts: [${JSON.stringify(concept)}] }, limit: 1) { name } } }`,
  );
  return graphqlErrors(answer)[0] ?? at(answer.json, "data", "Get", "Thing", 0, "name");
}

it.skipIf(lacks("etcd"))(
  "a concept that one gateway is taught is known there at once, and at the other one within a second (needs etcd)",
  async () => {
    for (const [number, definition] of THINGS.entries()) {
      const concept = `flimmerdings${"abcd".charAt(number)}`;
      const [teacher, other] = number % 2 === 0 ? gateways : [gateways[1], gateways[0]];
      for (const { http } of gateways) expect(await nearest(http, concept)).not.toBe(definition);
      await teach(teacher.http, concept, definition);
      expect(await nearest(teacher.http, concept)).toBe(definition);
      await expect.poll(() => nearest(other.http, concept), WITHIN_A_SECOND).toBe(definition);
    }
  },
);

it.skipIf(lacks("etcd"))(
  "without a coordinator a gateway that is started knows what it knew, and says that it cannot be taught (needs etcd)",
  async () => {
    const [first] = gateways;
    await first.kill();
    for (const coordinator of cluster.coordinators) await coordinator.kill();
    await first.launch();
    expect(await nearest(first.http, "flimmerdingsb")).toBe(THINGS[1]);
    const answer = await first.http.post(`${CONTEXTIONARY_ROUTES}/extensions`, {
      concept: "late",
      definition: "a cheese",
      weight: 1,
    });
    expect(answer.status, answer.text).toBe(503);
    for (const coordinator of cluster.coordinators) coordinator.spawn();
    await cluster.ready();
    await expect
      .poll(() => teach(first.http, "late", "a cheese of sheep milk").then(() => "taught", String))
      .toBe("taught");
    await expect.poll(() => nearest(gateways[1].http, "late")).toBe(THINGS[0]);
  },
);
