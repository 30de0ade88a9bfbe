import { afterAll, beforeAll, expect, it } from "vitest";
import { at } from "../http-client.js";
import { lacks } from "../needs.js";
import { Cluster } from "./cluster.js";
import { FAST } from "./slow-link.js";

const NODE = "storage-0";
let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({
    storageNodes: 1,
    etcdMembers: 0,
    smallDisks: { [NODE]: 256 },
    slowLinks: [NODE],
  });
  expect((await cluster.http.post("/v1/schema", { class: "Car" })).status).toBe(200);
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

/** Through one gateway after the other. */
const post = () => cluster.http.post("/v1/objects", { class: "Car", vector: [1, 2] });

it.skipIf(lacks("root", "mount"))("is asked through all of its gateways (needs root, mount)", async () => {
  for (let i = 0; i < 4; i++) expect((await post()).status).toBe(200);
  const asked = cluster.gateways.map(async (gateway) => (await gateway.metric("shoal_http_requests_total")) ?? 0);
  expect(Math.min(...(await Promise.all(asked)))).toBeGreaterThanOrEqual(2);
  expect(await cluster.member(NODE).metric("shoal_objects")).toBe(4);
});

it.skipIf(lacks("root", "mount"))("reaches a node over a slow link (needs root, mount)", async () => {
  const link = cluster.links.get(NODE);
  if (link === undefined) throw new Error("there is no link");
  link.speed = { delayMs: 150, bytesPerSecond: 1_000_000 };
  const begun = performance.now();
  expect((await post()).status).toBe(200);
  expect(performance.now() - begun).toBeGreaterThan(300);
  link.speed = FAST;
  await expect.poll(async () => (await post()).status).toBe(200);
});

it.skipIf(lacks("root", "mount"))(
  "refuses writes while the disk of the node is full, and takes them again (needs root, mount)",
  async () => {
    const disk = cluster.disks.get(NODE);
    if (disk === undefined) throw new Error("there is no disk");
    await disk.fill(8);
    await expect.poll(async () => (await post()).text).toMatch(/disk is full/);
    expect(at((await cluster.http.get("/v1/objects?limit=1")).json, "objects", 0, "class")).toBe("Car");
    await disk.free();
    await expect.poll(async () => (await post()).status).toBe(200);
  },
);

it.skipIf(lacks("root", "mount"))("keeps what it has through a restart of all of it (needs root, mount)", async () => {
  const before = at((await cluster.http.get("/v1/objects")).json, "totalResults");
  await Promise.all(cluster.members.map((one) => one.restart()));
  await cluster.ready();
  expect(at((await cluster.http.get("/v1/objects")).json, "totalResults")).toBe(before);
});
