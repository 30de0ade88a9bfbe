import { afterAll, beforeAll, expect, it } from "vitest";
import { at, type HttpClient, type Row } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

const ROUNDS = 5;
const WRITERS = 24;

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start();
  http = server.http;
});
afterAll(() => server[Symbol.asyncDispose]());

// covers: decisions/both/class-dimension
it("of vectors of many lengths that come first at the same time, one length wins, in all shards", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const name = `Race${round}`;
    await http.post("/v1/schema", { class: name, shardingConfig: { desiredCount: 4 } });
    const lengths = Array.from({ length: WRITERS }, (_, i) => (i % 3) + 2);
    const answers = await Promise.all(
      lengths.map((length) => http.post("/v1/objects", { class: name, vector: Array.from({ length }, () => 1) })),
    );
    const taken = new Set(lengths.filter((_, i) => answers[i]?.status === 200));
    expect(taken.size).toBe(1);
    const [winner = 0] = taken;
    expect(answers.map((one) => one.status)).toEqual(lengths.map((length) => (length === winner ? 200 : 422)));
    const listed = (await http.get(`/v1/objects?class=${name}&limit=100&include=vector`)).json;
    const stored = (at(listed, "objects") as readonly Row[]).map((row) => (row.vector as readonly number[]).length);
    expect(stored).toEqual(lengths.filter((length) => length === winner));
  }
});
