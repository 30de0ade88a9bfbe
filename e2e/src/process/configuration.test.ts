import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at } from "../http-client.js";
import { freePort, runServer, ServerProcess } from "../server-process.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-configuration-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe("shoal serve --config-file", () => {
  it("is obeyed, yields to variables, and those to options", async () => {
    const file = await write(
      "shoal.yaml",
      `
name: the file of this test
port: 1
host: 203.0.113.1
persistence: {dataPath: ${JSON.stringify(join(folder, "never"))}}
origin: https://db.example.com/
query_defaults: {limit: 2}
query_maximum_results: 50
log: {level: debug}
`,
    );
    // HOST, PORT and PERSISTENCE_DATA_PATH are variables here; with those of the file nothing would be served.
    await using server = await ServerProcess.start({
      args: ["--config-file", file],
      env: { QUERY_MAXIMUM_RESULTS: "3" },
    });
    const { http } = server;
    expect((await http.post("/v1/schema", { class: "Car" })).status).toBe(200);
    for (let i = 0; i < 3; i++) await http.post("/v1/objects", { class: "Car", vector: [i, 1] });
    const list = await http.get("/v1/objects");
    expect(at(list.json, "objects")).toHaveLength(2);
    expect((await http.get("/v1/objects?limit=3")).status).toBe(200);
    expect((await http.get("/v1/objects?limit=4")).status).toBe(422);
    const root = await http.get("/v1");
    expect(root.text).toContain("https://db.example.com/v1/meta");
    expect(server.output).toContain("the file of this test");
    expect(existsSync(join(folder, "never"))).toBe(false);
  });

  it("requiresAuthentication keeps everybody out who brings no token, also where the issuer does not answer", async () => {
    const file = await write(
      "required.json",
      JSON.stringify({
        requiresAuthentication: true,
        authentication: {
          anonymous_access: { enabled: true },
          oidc: { issuer: `http://127.0.0.1:${await freePort()}`, client_id: "shoal", username_claim: "sub" },
        },
      }),
    );
    await using server = await ServerProcess.start({ args: ["--config-file", file] });
    expect((await server.http.get("/v1/schema")).status).toBe(401);
    expect((await server.http.post("/v1/graphql", { query: "{ __typename }" })).status).toBe(401);
    expect(server.output).toMatch(/"level":"warn".*anonymous_access\.enabled .* has no effect: requiresAuthentication/);
  });

  it.each([
    [["--port", "x"], '--port must be a whole number from 0 to 65535, got "x"'],
    [["--host", ""], "--host must be a host name or an IP address"],
    [["--scheme", "https"], "--scheme"],
    [["--prot", "1"], "--prot"],
    [["--write-timeout", "90"], "--write-timeout must be a duration such as 90s or 1m30s"],
    [["shoal.yaml"], "argument"],
  ])("refuses the options %j", async (options, message) => {
    const { code, stderr } = await runServer({ PORT: "0" }, ["serve", ...options]);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  it("--port wins over PORT", async () => {
    const [port, other] = [await freePort(), await freePort()];
    const { code, stderr } = await runServer({ PORT: String(other), PERSISTENCE_DATA_PATH: join(folder, "flags") }, [
      "serve",
      "--host",
      "203.0.113.1",
      "--port",
      String(port),
      "--scheme",
      "http",
      "--read-timeout=30s",
      "--write-timeout=1m30s",
      "--keep-alive=3m",
      "--max-header-size=1MiB",
      "--graceful-timeout=15s",
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain(`203.0.113.1:${port}`);
  });

  it.each([
    ["an unknown key", "prot: 1\n", /line 1 has the unknown key "prot"; the nearest known key is port$/],
    ["a key that stands twice", "port: 1\nport: 2\n", /line 2 has the key port for the second time/],
    ["a wrong type", "debug: 7", /debug \(.*bad\.yaml line 1\) must be one of true, on, .*, got 7$/],
    ["what is not YAML", "a: [1\n", /bad\.yaml line \d, column \d+ is not valid YAML or JSON: /],
    ["aliases", "origin: &a x\nname: *a\n", /line 2: name must be text.*not an alias/],
    ["brackets without end", "[".repeat(500_000), /nested more than 16 deep$/],
    [
      "a feature that is not there",
      "cluster: {join: 'a:1'}",
      /cluster\.join \(.* line 1\) asks for nodes that find each other by gossip/,
    ],
    ["OpenID Connect half set", "authentication: {oidc: {enabled: true}}", /missing required field 'issuer', missing/],
    ["no way in", "authentication: {anonymous_access: {enabled: false}}", /no authentication scheme configured/],
    ["requiresAuthentication alone", "requiresAuthentication: true", /missing required field 'issuer'/],
  ])("refuses %s in one line, before it touches the disk", async (_, text, message) => {
    const file = await write("bad.yaml", text);
    const dataPath = join(folder, "untouched");
    const { code, stdout, stderr } = await runServer({ PORT: "0", PERSISTENCE_DATA_PATH: dataPath }, [
      "serve",
      "--config-file",
      file,
    ]);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr.trimEnd()).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(existsSync(dataPath)).toBe(false);
  });

  it("refuses a file that is not there", async () => {
    const { code, stderr } = await runServer({ PORT: "0" }, ["serve", "--config-file", join(folder, "missing.yaml")]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^\S.*missing\.yaml" cannot be read: ENOENT[^\n]*\n$/);
  });
});

describe("variables", () => {
  it.each([
    ["AUTHENTICATION_OIDC_ISUER", "AUTHENTICATION_OIDC_ISSUER"],
    ["AUTOSCHEMA_ENABLE", "AUTOSCHEMA_ENABLED"],
  ])("%s is refused as a misspelled %s", async (misspelled, meant) => {
    const { code, stderr } = await runServer({ PORT: "0", [misspelled]: "x" });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(misspelled);
    expect(stderr).toContain(`the nearest is ${meant};`);
  });

  it("that have no effect are warned about", async () => {
    await using server = await ServerProcess.start({ env: { AUTHORIZATION_ADMINLIST_USERS: "ann" } });
    expect(server.output).toMatch(/"level":"warn".*AUTHORIZATION_ADMINLIST_USERS is set but has no effect/);
  });
});

describe("help", () => {
  it("npm start -- --help lists the settings and ends with 0", async () => {
    const { stdout } = await promisify(execFile)("npm", ["start", "--silent", "--", "--help"], {
      cwd: ROOT,
      timeout: 120_000,
    });
    for (const text of ["--config-file <path>", "AUTHENTICATION_OIDC_ISSUER", "authentication.oidc.issuer", "PORT"]) {
      expect(stdout).toContain(text);
    }
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it("shoal contextionary --help lists what that reads, with its port", async () => {
    const { code, stdout } = await runServer({}, ["contextionary", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}INTERNAL_PORT .*\n.* Default: 9999\.$/m);
    expect(stdout).not.toMatch(/^ {2}PORT /m);
  });

  it("npm start -- --config-file reads the file", async () => {
    const file = await write("refused.yaml", "prot: 1\n");
    const run = promisify(execFile)("npm", ["start", "--silent", "--", "--config-file", file], {
      cwd: ROOT,
      timeout: 120_000,
    });
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('unknown key "prot"') });
  });
});
