import { afterAll, beforeAll, expect, it } from "vitest";
import { errorOf, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start({ env: { REQUESTS_IN_FLIGHT_MAX: "2" } });
  http = server.http;
  await http.post("/v1/schema", { class: "Car" });
});
afterAll(() => server[Symbol.asyncDispose]());

// covers: spec/limits/rate-limits
it("more requests at a time than are allowed get 429 with Retry-After, the others are served, probes always answer", async () => {
  const writes = Array.from({ length: 100 }, () => http.post("/v1/objects", { class: "Car", vector: [1, 2] }));
  const probes = Array.from({ length: 20 }, () => http.get("/v1/.well-known/ready"));
  const answers = await Promise.all(writes);
  expect(new Set(answers.map((one) => one.status))).toEqual(new Set([200, 429]));
  for (const one of answers.filter(({ status }) => status === 429)) {
    expect(Number(one.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(typeof errorOf(one)).toBe("string");
  }
  expect((await Promise.all(probes)).map((one) => one.status)).toEqual(probes.map(() => 200));
  const taken = answers.filter(({ status }) => status === 200).length;
  const listed = (await http.get("/v1/objects?limit=1000")).json as { readonly totalResults: number };
  expect(listed.totalResults).toBe(taken);
});
