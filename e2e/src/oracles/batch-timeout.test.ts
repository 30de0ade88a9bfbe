import { afterAll, beforeAll, expect, it } from "vitest";
import { type Answer, at, errorOf, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

const OBJECTS = 20_000;

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start({ env: { BATCH_TIMEOUT_SECONDS: "1" } });
  http = server.http;
  await http.post("/v1/schema", { class: "Src", shardingConfig: { desiredCount: 4 } });
});
afterAll(() => server[Symbol.asyncDispose]());

const idOf = (i: number): string => `00000000-0000-0000-0000-${String(i).padStart(12, "0")}`;

async function storedIds(): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after = "00000000-0000-0000-0000-000000000000"; ; after = ids.at(-1) ?? "") {
    const page = (await http.get(`/v1/objects?class=Src&limit=5000&after=${after}`)).json;
    const found = (at(page, "objects") as readonly unknown[]).map((one) => String(at(one, "id")));
    if (found.length === 0) return ids;
    ids.push(...found);
  }
}

/**
 * Sends the batch and lets the process stand still while it is under way: however fast the machine is, the time is up.
 * When the process was stopped too early or too late, once more, later.
 */
async function caughtUnderWay(objects: readonly unknown[]): Promise<Answer> {
  for (let delayMs = 50; ; delayMs *= 2) {
    const sent = http.post("/v1/batch/objects", { objects });
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    server.signal("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    server.signal("SIGCONT");
    const answer = await sent;
    if (answer.status !== 200 || delayMs > 1_000) return answer;
  }
}

// covers: decisions/both/batch-timeout, spec/errors/batch-timeout, spec/limits/batch-timeout
it("a batch that takes longer than is set is 504; what is stored by then stays", async () => {
  expect(
    (await http.post("/v1/batch/objects", { objects: [{ class: "Src", id: idOf(1), vector: [1, 2] }] })).status,
  ).toBe(200);
  const objects = Array.from({ length: OBJECTS }, (_, i) => ({ class: "Src", id: idOf(i + 2), vector: [i, 1] }));
  const answer = await caughtUnderWay(objects);
  expect(answer.status).toBe(504);
  expect(errorOf(answer)).toContain("BATCH_TIMEOUT_SECONDS");
  const before = await storedIds();
  expect(before).toContain(idOf(1));
  await server.kill();
  await server.launch();
  const after = new Set(await storedIds());
  expect(before.filter((id) => !after.has(id))).toEqual([]);
  // And the next batch is served.
  const next = await http.post("/v1/batch/objects", { objects: objects.slice(0, 1) });
  expect(at(next.json, 0, "result")).toEqual({});
});
