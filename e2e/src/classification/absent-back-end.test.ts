import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ContextionaryProcess } from "../contextionary-process.js";
import { at } from "../http-client.js";
import { testSeed } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";
import { classify, ended, importLabels, knownLabels, started } from "./known-labels.js";

let contextionary: ContextionaryProcess;
let server: ServerProcess | undefined;

beforeAll(async () => {
  contextionary = await ContextionaryProcess.start();
  server = await ServerProcess.start({ env: { CONTEXTIONARY_URL: contextionary.address } });
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await contextionary[Symbol.asyncDispose]();
});

it("a classification whose service is away waits for it, says so in the log, and holds up no other", async () => {
  if (server === undefined) throw new Error("no server");
  const { http } = server;
  await importLabels(http, knownLabels(seededRandom(testSeed()).next, 3, 60, 0.5));
  await http.post("/v1/schema", { class: "Topic", vectorizer: "text2vec-contextionary" });
  const properties = [
    { name: "text", dataType: ["text"] },
    { name: "topic", dataType: ["Topic"] },
  ];
  await http.post("/v1/schema", { class: "Article", vectorizer: "text2vec-contextionary", properties });
  await http.post("/v1/objects", { class: "Topic", properties: { name: "music" } });
  await http.post("/v1/objects", { class: "Article", properties: { text: "the orchestra played a symphony" } });
  await contextionary.kill();
  const waiting = await started(http, {
    ...{ type: "text2vec-contextionary-contextual", class: "Article", classifyProperties: ["topic"] },
  });
  for (let waitedMs = 0; !server.output.includes("a classification has to wait"); waitedMs += 100) {
    expect(waitedMs).toBeLessThan(60_000);
    await sleep(100);
  }
  expect(await classify(http, { type: "knn", settings: { k: 1 } })).toMatchObject({ status: "completed" });
  const { json } = await http.get(`/v1/classifications/${waiting}`);
  expect([at(json, "status"), at(json, "error")]).toEqual(["running", undefined]);
  await contextionary.launch();
  expect(await ended(http, waiting)).toMatchObject({ status: "completed", meta: { countSucceeded: 1 } });
});
