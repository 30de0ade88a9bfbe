import { expect, it } from "vitest";
import { CONTEXTIONARY_ROUTES } from "../modules/teach.js";
import { freePort, ServerProcess } from "../server-process.js";

const STORAGE = `${CONTEXTIONARY_ROUTES}/extensions-storage/`;
const SECRET = "a-secret-of-contextionaries";
const EXTENSION = JSON.stringify({
  concept: "cat",
  vector: [1],
  occurrence: 1,
  input: { definition: "dog", weight: 1 },
});

/** Where nobody listens: what matters here is only that one is named. */
const AWAY = { CONTEXTIONARY_URL: "127.0.0.1:9", ENABLE_MODULES: "none" };

/** The status of a PUT on the internal port, and what the log says of it at the start. */
async function putOn(env: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  await using server = await ServerProcess.start({ env: { ...env, METRICS_PORT: String(port) } });
  const answer = await fetch(`http://127.0.0.1:${port}${STORAGE}cat`, { method: "PUT", body: EXTENSION, headers });
  return { status: answer.status, said: server.output };
}

it("S3: METRICS_PORT takes no extensions where no remote contextionary is set", async () => {
  expect((await putOn({})).status).toBe(404);
  const { status, said } = await putOn({ CONTEXTIONARY_STORAGE_SECRET: SECRET }, { Authorization: `Bearer ${SECRET}` });
  expect(status).toBe(404);
  expect(said).toContain("CONTEXTIONARY_STORAGE_SECRET is not used");
});

it("S3: nor without a secret, and the start says what does not work", async () => {
  const { status, said } = await putOn(AWAY);
  expect(status).toBe(404);
  expect(said).toContain("CONTEXTIONARY_STORAGE_SECRET is not set");
});

it("S3: with one, only whoever knows it comes through", async () => {
  const guarded = { ...AWAY, CONTEXTIONARY_STORAGE_SECRET: SECRET };
  expect((await putOn(guarded)).status).toBe(401);
  expect((await putOn(guarded, { Authorization: `Bearer ${SECRET}x` })).status).toBe(401);
  // No module has a storage here.
  expect((await putOn(guarded, { Authorization: `Bearer ${SECRET}` })).status).toBe(404);
});

it("S3: a secret that anybody guesses is refused, and not repeated", async () => {
  const start = ServerProcess.start({ env: { ...AWAY, CONTEXTIONARY_STORAGE_SECRET: "hunter2" } });
  await expect(start).rejects.toThrow(/CONTEXTIONARY_STORAGE_SECRET must be a secret of 16 to 512/);
  await expect(start).rejects.not.toThrow(/hunter2/);
});
