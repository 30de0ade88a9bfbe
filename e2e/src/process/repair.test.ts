import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesBelow } from "../faults/store-folders.js";
import { at } from "../http-client.js";
import { cleanEnvironment, runServer, SERVER_MAIN, ServerProcess } from "../server-process.js";

const OBJECTS = 300;
const random = seededRandom(31);
let root: string;
/** The data folder of a server that was stopped, whole. */
let whole: string;
let data: string;

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const isDeleted = (n: number) => n % 10 === 9;
const vectors = Array.from({ length: OBJECTS }, () => Array.from({ length: 8 }, () => random.below(2001) - 1000));

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "shoal-repair-"));
  whole = join(root, "whole");
  data = join(root, "data");
  await using server = await ServerProcess.start({ dataPath: whole });
  const made = await server.http.post("/v1/schema", {
    class: "Book",
    properties: [
      { name: "title", dataType: ["text"] },
      { name: "n", dataType: ["int"] },
    ],
  });
  expect(made.status).toBe(200);
  for (let from = 0; from < OBJECTS; from += 50) {
    const objects = Array.from({ length: 50 }, (_, i) => from + i).map((n) => ({
      class: "Book",
      id: idOf(n),
      properties: { title: `word${n % 3} ${"long ".repeat(40)}`, n },
      vector: vectors[n],
    }));
    expect((await server.http.post("/v1/batch/objects", { objects })).status).toBe(200);
  }
  for (let n = 0; n < OBJECTS; n++) {
    if (isDeleted(n)) expect((await server.http.send("DELETE", `/v1/objects/${idOf(n)}`)).status).toBe(204);
  }
  await server.stop();
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function copyData(): Promise<void> {
  await rm(data, { recursive: true, force: true });
  await cp(whole, data, { recursive: true });
}

async function fileOf(part: RegExp): Promise<string> {
  const found = (await filesBelow(data)).find((path) => part.test(path));
  if (found === undefined) throw new Error(`no file like ${part}`);
  return found;
}

async function digestOfData(): Promise<string> {
  const hash = createHash("sha256");
  for (const path of await filesBelow(data)) hash.update(path).update(await readFile(path));
  return hash.digest("hex");
}

const repair = (...args: string[]) => runServer({}, ["repair", "--data-path", data, ...args]);

/** Every object that was not deleted answers by id, by filter and by vector. */
async function expectAllFound(): Promise<void> {
  await using server = await ServerProcess.start({ dataPath: data });
  for (let n = 0; n < OBJECTS; n++) {
    const got = await server.http.get(`/v1/objects/${idOf(n)}`);
    expect(got.status, `object ${n}`).toBe(isDeleted(n) ? 404 : 200);
    if (!isDeleted(n)) expect(at(got.json, "properties", "n")).toBe(n);
  }
  const get = async (args: string, fields: string) =>
    (await server.http.post("/v1/graphql", { query: `{Get{Book(${args}){${fields}}}}` })).json;
  const filtered = await get('limit:300,where:{path:["title"],operator:Equal,valueText:"word1"}', "n");
  const expected = vectors.flatMap((_, n) => (n % 3 === 1 && !isDeleted(n) ? [n] : []));
  const numbers = (at(filtered, "data", "Get", "Book") as { readonly n: number }[]).map(({ n }) => n);
  expect(numbers.sort((a, b) => a - b)).toEqual(expected);
  for (const n of [0, 7, 150, 298]) {
    const nearest = await get(`limit:1,nearVector:{vector:[${vectors[n]}]}`, "n");
    expect(at(nearest, "data", "Get", "Book", 0, "n")).toBe(n);
  }
  await server.stop();
}

describe("F9: shoal repair", () => {
  it("finds nothing wrong with a whole folder, and changes nothing", async () => {
    await copyData();
    const before = await digestOfData();
    for (const args of [[], ["--write"]]) {
      const { code, stdout } = await repair(...args);
      expect(stdout).toMatch(/^schema: whole\nshards\/\w+\/\w+ \(class Book\): whole\n$/);
      expect(code).toBe(0);
      expect(await digestOfData()).toBe(before);
    }
  });

  it("refuses a folder that a server has open", async () => {
    await copyData();
    await using server = await ServerProcess.start({ dataPath: data });
    for (const args of [[], ["--write"], ["--schema"]]) {
      const { code, stdout, stderr } = await repair(...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^shoal: store .*schema is in use by another process/);
    }
    expect((await server.http.get(`/v1/objects/${idOf(1)}`)).status).toBe(200);
    await server.stop();
    expect((await repair()).code).toBe(0);
  });

  it.each([
    ["CURRENT is missing", async () => rm(await fileOf(/rows\/CURRENT$/))],
    ["the MANIFEST is missing", async () => rm(await fileOf(/rows\/MANIFEST/))],
  ])("brings a shard back of which %s", async (_, harm) => {
    await copyData();
    await harm();
    {
      await using server = await ServerProcess.start({ dataPath: data });
      expect((await server.http.get(`/v1/objects/${idOf(1)}`)).status).toBe(503);
      await server.stop();
    }
    const before = await digestOfData();
    const looked = await repair();
    expect(looked.code).toBe(1);
    expect(looked.stdout).toMatch(/\(class Book\): damaged\n.* is missing\n {2}salvaged: 270 objects, all that/);
    expect(looked.stdout).toContain("nothing was changed");
    expect(await digestOfData()).toBe(before);
    const mended = await repair("--write", "--json");
    expect(mended.code).toBe(0);
    const stores = at(JSON.parse(mended.stdout), "stores") as unknown[];
    expect(stores).toMatchObject([
      { store: "schema", state: "whole" },
      { className: "Book", state: "mended", objects: { objects: 270, hasExpectedIds: true, lost: { count: 0 } } },
    ]);
    await expectAllFound();
    expect((await repair()).stdout).toMatch(/\(class Book\): whole\n$/);
  });

  it("brings the schema back", async () => {
    await copyData();
    const manifest = await fileOf(/schema\/MANIFEST/);
    const content = await readFile(manifest);
    content[40] = (content[40] ?? 0) ^ 1;
    await writeFile(manifest, content);
    const refused = await runServer({ PORT: "0", HOST: "127.0.0.1", PERSISTENCE_DATA_PATH: data });
    expect(refused.code).toBe(1);
    const { code, stdout } = await repair("--schema", "--write");
    expect(stdout).toMatch(/^schema: mended\n {2}MANIFEST-\d+ is damaged\n {2}salvaged: \d+ entries of the schema\n/);
    expect(code).toBe(0);
    await expectAllFound();
  });

  it("brings back shards of the oldest data format", async () => {
    await rm(data, { recursive: true, force: true });
    const fixture = fileURLToPath(new URL("../../fixtures/data-format-1.tgz", import.meta.url));
    execFileSync("tar", ["-xzf", fixture, "-C", root]);
    expect((await repair()).stdout).toMatch(/^(.*: whole\n){3}$/);
    for (const path of await filesBelow(data)) if (/CURRENT$/.test(path)) await rm(path);
    const { code, stdout } = await repair("--write");
    expect(stdout.match(/: mended$/gm)).toHaveLength(3);
    expect(code).toBe(0);
    await using server = await ServerProcess.start({ dataPath: data });
    const query = '{Get{Fixture(where:{path:["n"],operator:LessThan,valueInt:100}){n}}}';
    const found = at((await server.http.post("/v1/graphql", { query })).json, "data", "Get", "Fixture") as {
      n: number;
    }[];
    expect(found.map(({ n }) => n).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    await server.stop();
  });

  it("leaves the old store or the new one when it is killed, and can be repeated", async () => {
    await copyData();
    await rm(await fileOf(/rows\/CURRENT$/));
    for (let round = 0; round < 6; round++) {
      const child = spawn(process.execPath, [SERVER_MAIN, "repair", "--data-path", data, "--write"], {
        env: cleanEnvironment(),
        stdio: "ignore",
      });
      const ended = new Promise((resolve) => child.once("close", resolve));
      await sleep(200 + random.below(1200));
      child.kill("SIGKILL");
      await ended;
    }
    const { code, stdout } = await repair("--write");
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/\): (mended|whole)\n/) });
    const shard = join(await fileOf(/class\.json$/), "..");
    const [name = ""] = (await readdir(shard)).filter((one) => one !== "class.json");
    for (const left of await readdir(join(shard, name)))
      expect(left).toMatch(/^(rows|views|rows\.damaged-\d{8}T\d{6}Z)$/);
    await expectAllFound();
  });

  it.each([
    [["--shard", "nothing"], /--shard must be the class id and the name of a shard.*got 'nothing'/],
    [["--shard", "a/b", "--schema"], /--shard and --schema name different stores/],
  ])("says what is wrong with %j", async (args, message) => {
    await copyData();
    const { code, stderr } = await repair(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
  });

  it("says what is wrong with a folder that is no data folder", async () => {
    const { code, stderr } = await runServer({}, ["repair", "--data-path", join(root, "elsewhere")]);
    expect(code).toBe(1);
    expect(stderr).toContain("--data-path must be the data folder of a server");
  });
});
