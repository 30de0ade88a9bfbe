import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, type HttpClient, type Row } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;
/** In the order of creation; every third one is a Truck; both classes have several shards. */
const ids: string[] = [];

beforeAll(async () => {
  server = await ServerProcess.start({ env: { QUERY_MAXIMUM_RESULTS: "200" } });
  http = server.http;
  for (const name of ["Car", "Truck"]) {
    await http.post("/v1/schema", { class: name, shardingConfig: { desiredCount: 3 } });
  }
  for (let i = 0; i < 60; i++) {
    const id = randomUUID();
    ids.push(id);
    expect((await http.post("/v1/objects", { class: i % 3 === 2 ? "Truck" : "Car", id, vector: [i, 1] })).status).toBe(
      200,
    );
  }
});
afterAll(() => server[Symbol.asyncDispose]());

async function list(query: string): Promise<readonly string[]> {
  const answer = await http.get(`/v1/objects${query}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return (at(answer.json, "objects") as readonly Row[]).map((row) => String(row.id));
}

/** Newest first; of the same millisecond by id. */
async function newestFirst(): Promise<readonly string[]> {
  const all = await Promise.all(
    ids.map(async (id) => ({ id, time: at((await http.get(`/v1/objects/${id}`)).json, "creationTimeUnix") as number })),
  );
  return all.sort((a, b) => b.time - a.time || (a.id < b.id ? -1 : 1)).map((one) => one.id);
}

describe("GET /v1/objects", () => {
  // covers: decisions/both/list-newest-first, spec/objects/get-list
  it("is newest first over all classes and shards, 25 by default, with limit and offset", async () => {
    const expected = await newestFirst();
    expect(await list("")).toEqual(expected.slice(0, 25));
    expect(await list("?limit=100")).toEqual(expected);
    expect(await list("?limit=7&offset=11")).toEqual(expected.slice(11, 18));
    expect(await list("?offset=55&limit=50")).toEqual(expected.slice(55));
  });

  it("class filters", async () => {
    const trucks = ids.filter((_, i) => i % 3 === 2);
    expect([...(await list("?class=Truck&limit=100"))].sort()).toEqual([...trucks].sort());
  });

  // covers: decisions/both/list-cursor
  it("class and after walk in the order of the uuid, also past an object that is gone", async () => {
    const cars = ids.filter((_, i) => i % 3 !== 2).sort();
    const walked: string[] = [];
    for (let after = "00000000-0000-0000-0000-000000000000"; ; ) {
      const page = await list(`?class=Car&after=${after}&limit=7`);
      walked.push(...page);
      if (page.length === 0) break;
      after = page.at(-1) ?? "";
    }
    expect(walked).toEqual(cars);
    const gone = cars[10] ?? "";
    await http.delete(`/v1/objects/${gone}`);
    expect(await list(`?class=Car&after=${gone}&limit=3`)).toEqual(cars.slice(11, 14));
    await http.post("/v1/objects", { class: "Car", id: gone, vector: [0, 1] });
  });
});
