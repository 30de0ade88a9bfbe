import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { at } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

const AUTHOR = "6a4f3a37-1c2f-4b3e-9a0e-0c2c4c6f9d01";
const ARTICLE = "6a4f3a37-1c2f-4b3e-9a0e-0c2c4c6f9d02";
const QUERY = "{ Get { Article { title hasAuthor { ... on Author { name } } } } }";

/** A class that refers to another one, and an object of each. */
async function fill({ http }: ServerProcess): Promise<void> {
  const author = { class: "Author", properties: [{ name: "name", dataType: ["text"] }] };
  const title = { name: "title", dataType: ["text"] };
  const article = { class: "Article", properties: [title, { name: "hasAuthor", dataType: ["Author"] }] };
  for (const body of [author, article]) expect((await http.post("/v1/schema", body)).status).toBe(200);
  const object = { class: "Author", id: AUTHOR, vector: [1, 0], properties: { name: "Ann" } };
  expect((await http.post("/v1/objects", object)).status).toBe(200);
  const hasAuthor = [{ beacon: `any://localhost/${AUTHOR}` }];
  const referring = { class: "Article", id: ARTICLE, vector: [0, 1], properties: { title: "a", hasAuthor } };
  expect((await http.post("/v1/objects", referring)).status).toBe(200);
}

async function beaconOf({ http }: ServerProcess): Promise<unknown> {
  return at((await http.get(`/v1/objects/${ARTICLE}`)).json, "properties", "hasAuthor", 0, "beacon");
}

it("U2: without settings the answers are those that clients in the field expect", async () => {
  await using server = await ServerProcess.start();
  await fill(server);
  const { http } = server;
  expect(await beaconOf(server)).toBe(`weaviate://localhost/${AUTHOR}`);
  const body = { class: "Author", id: AUTHOR, vector: [1, 0], properties: { name: "Bob" } };
  const put = await http.put(`/v1/objects/${AUTHOR}`, body);
  expect(put.status).toBe(200);
  expect(put.json).toMatchObject({ class: "Author", properties: { name: "Bob" } });
  const reference = { beacon: `weaviate://localhost/${AUTHOR}` };
  expect((await http.post(`/v1/objects/${ARTICLE}/references/hasAuthor`, reference)).status).toBe(200);
  const answer = await http.graphql(QUERY);
  expect(Object.keys(answer.json as object)).toEqual(["data"]);
  const absent = await http.get("/v1/objects/6a4f3a37-1c2f-4b3e-9a0e-0c2c4c6f9dff");
  expect([absent.status, absent.text]).toEqual([404, ""]);
});

it.each([
  { before: "spec", after: undefined, scheme: "weaviate" },
  { before: undefined, after: "spec", scheme: "svc" },
])("U2: data of profile $before is served under profile $after, references in its scheme", async (profiles) => {
  const { before, after, scheme } = profiles;
  const env = (profile: string | undefined) => (profile === undefined ? {} : { WIRE_PROFILE: profile });
  const dataPath = await mkdtemp(join(tmpdir(), "shoal-profiles-"));
  try {
    {
      await using server = await ServerProcess.start({ dataPath, env: env(before) });
      await fill(server);
    }
    await using server = await ServerProcess.start({ dataPath, env: env(after) });
    const { http } = server;
    expect(await beaconOf(server)).toBe(`${scheme}://localhost/${AUTHOR}`);
    const found = [{ title: "a", hasAuthor: [{ name: "Ann" }] }];
    expect(await http.rows("Article", QUERY)).toEqual(found);
    const path = '["hasAuthor", "Author", "name"]';
    const filtered = `{ Get { Article(where: {path: ${path}, operator: Equal, valueText: "Ann"}) { title } } }`;
    expect(await http.rows("Article", filtered)).toEqual([{ title: "a" }]);
    // What was stored in the other scheme is taken away by either.
    const reference = { beacon: `svc://localhost/${AUTHOR}` };
    const removed = await http.send("DELETE", `/v1/objects/${ARTICLE}/references/hasAuthor`, reference);
    expect(removed.status).toBe(204);
    expect(await http.rows("Article", QUERY)).toEqual([{ title: "a", hasAuthor: null }]);
    const shown = await http.get("/v1/schema/Article");
    const same = await http.put("/v1/schema/Article", shown.json);
    expect(same.status, same.text).toBe(200);
    expect(same.text).toBe(shown.text);
  } finally {
    await rm(dataPath, { recursive: true, force: true });
  }
});
