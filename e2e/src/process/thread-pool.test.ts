import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { runServer, ServerProcess } from "../server-process.js";

/** Threads of a server that has opened a store. */
async function threadsOf(env: Readonly<Record<string, string>>): Promise<number> {
  await using server = await ServerProcess.start({ env });
  expect((await server.http.post("/v1/schema", { class: "Thing" })).status).toBe(200);
  return readdirSync(`/proc/${server.pid}/task`).length;
}

it.skipIf(process.platform !== "linux")(
  "F7: the pool of threads has the size that the server gives it, or its operator (needs Linux)",
  async () => {
    const [own, operators] = [await threadsOf({}), await threadsOf({ UV_THREADPOOL_SIZE: "7" })];
    // What else a process has comes and goes by a few.
    expect(Math.abs(own - operators - (64 - 7))).toBeLessThan(8);
  },
);

it("a number of threads that is none stops the start", async () => {
  const run = await runServer({ UV_THREADPOOL_SIZE: "many", PORT: "0" });
  expect(run.code).toBe(1);
  expect(run.stderr).toContain("UV_THREADPOOL_SIZE is 'many', it must be a whole number from 1 to 1024");
});
