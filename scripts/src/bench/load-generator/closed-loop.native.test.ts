import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { classDefinition } from "../bench-class.js";
import { fakeShoal } from "../fake-shoal.js";
import { prepare as importObjects } from "../workloads/import-objects.js";
import { prepare as listObjects } from "../workloads/list-objects.js";
import { prepare as nearVector } from "../workloads/near-vector.js";
import { type ObjectVerb, prepare as singleObject } from "../workloads/single-object.js";
import { type LoopLimits, openConnections, runClosedLoop } from "./closed-loop.js";
import { httpRequest } from "./http-request.js";
import type { Workload } from "./workload.js";

const LOADED = 500;
const UNLIMITED: LoopLimits = { secondsMax: 60, requestsPerSecond: null };
/** The first test may have to convert the data set. */
const TIMEOUT_MS = 120_000;

describe("the load generator against a fake", () => {
  let server: Server;
  let url: URL;

  beforeEach(async () => {
    server = fakeShoal().listen(0, "127.0.0.1");
    await once(server, "listening");
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  async function run(workload: Workload, limits = UNLIMITED, connectionCount = 4) {
    const connections = await openConnections(url, connectionCount);
    const report = await runClosedLoop(connections, workload, 0, workload.warmUpRequests + workload.requests, limits);
    for (const connection of connections) connection[Symbol.dispose]();
    return report;
  }

  async function load() {
    await fetch(new URL("/v1/schema", url), { method: "POST", body: JSON.stringify(classDefinition("glove")) });
    return run(await importObjects(url, { set: "glove", from: 0, count: LOADED, perBatch: 30 }));
  }

  it(
    "imports, searches with recall 1, lists, and changes objects",
    async () => {
      const imported = await load();
      expect(imported).toMatchObject({ requests: 17, faults: 0, statuses: { 200: 17 } });

      for (const queries of ["held-out", "perturbed"] as const) {
        const parameters = { set: "glove", loaded: LOADED, queries, warmUpRequests: 5, requests: 40 } as const;
        const workload = await nearVector(url, { ...parameters, limit: 10, recallQueries: 30 });
        const report = await run(workload);
        expect(report.faultsShown).toEqual([]);
        expect(report.requests).toBe(45);
        expect(report.p99Ms).toBeGreaterThanOrEqual(report.p50Ms);
        expect(workload.recall?.()).toBe(1);
      }

      for (const over of ["rest", "graphql"] as const) {
        const parameters = { set: "glove", over, limit: 10, warmUpRequests: 0, requests: 50 } as const;
        expect(await run(await listObjects(url, parameters))).toMatchObject({ faults: 0, requests: 50 });
      }
      for (const verb of ["get", "patch", "put", "post", "delete"] satisfies ObjectVerb[]) {
        const parameters = { set: "glove", loaded: LOADED, verb, warmUpRequests: 0, requests: 40 } as const;
        expect(await run(await singleObject(url, parameters))).toMatchObject({ faults: 0, requests: 40 });
      }
    },
    TIMEOUT_MS,
  );

  it("takes wrong answers for faults, and gives up on too many", async () => {
    await load();
    const parameters = { set: "glove", loaded: LOADED, verb: "delete", warmUpRequests: 0, requests: 20 } as const;
    await run(await singleObject(url, parameters));
    const again = await run(await singleObject(url, parameters));
    expect(again).toMatchObject({ faults: 20, statuses: { 404: 20 } });
    expect(again.faultsShown[0]).toContain("delete: 404");
    // A class of fewer rows than the exact answer assumes.
    const workload = await nearVector(url, {
      set: "glove",
      loaded: LOADED + 2000,
      queries: "perturbed",
      warmUpRequests: 0,
      requests: 20,
      limit: 10,
      recallQueries: 20,
    });
    await run(workload);
    expect(workload.recall?.()).toBeLessThan(0.9);
    const nowhere: Workload = {
      warmUpRequests: 0,
      requests: 1000,
      request: () => httpRequest(url, "GET", "/v1/nothing"),
      fault: (_, { status }) => (status === 200 ? undefined : `status ${status}`),
    };
    const givenUp = await run(nowhere);
    expect(givenUp.requests).toBeLessThan(200);
  });

  it("keeps to a rate and to a time", async () => {
    const ready: Workload = {
      warmUpRequests: 0,
      requests: 40,
      request: () => httpRequest(url, "GET", "/v1/objects?limit=1"),
      fault: () => undefined,
    };
    const paced = await run(ready, { secondsMax: 60, requestsPerSecond: 100 });
    expect(paced.seconds).toBeGreaterThan(0.38);
    const cut = await run({ ...ready, requests: 1_000_000 }, { secondsMax: 0.2, requestsPerSecond: null });
    expect(cut.seconds).toBeLessThan(5);
    expect(cut.requests).toBeGreaterThan(0);
  });

  it("fails when the server goes away", async () => {
    const connections = await openConnections(url, 2);
    const endless: Workload = {
      warmUpRequests: 0,
      requests: 1_000_000,
      request: () => httpRequest(url, "GET", "/v1/objects?limit=1"),
      fault: () => undefined,
    };
    const running = runClosedLoop(connections, endless, 0, endless.requests, UNLIMITED);
    setTimeout(() => server.closeAllConnections(), 50);
    await expect(running).rejects.toMatchObject({ code: "unavailable" });
  });
});
