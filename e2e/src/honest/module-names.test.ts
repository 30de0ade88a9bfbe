import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf } from "../http-client.js";
import { runServer, ServerProcess } from "../server-process.js";

const BUILT =
  "text2vec-contextionary, text2vec-transformers, img2vec-neural, qna-transformers, ner-transformers, text-spellcheck";

let dataPath: string;

beforeAll(async () => {
  dataPath = await mkdtemp(join(tmpdir(), "shoal-module-names-"));
});

afterAll(async () => {
  await rm(dataPath, { recursive: true, force: true });
});

it("U1: variables of the reference that do nothing here are a warning each", async () => {
  const env = { GRPC_PORT: "50051", ASYNC_INDEXING: "true", QUERY_DEFAULTS_LIMIT_GRAPHQL: "100", LOG_FORMAT: "json" };
  await using server = await ServerProcess.start({ env });
  const lines = server.output.split("\n").filter((text) => text.includes("is not built here"));
  expect(
    lines.map((line) => [at(JSON.parse(line), "level"), String(at(JSON.parse(line), "message")).split(" ")[0]]),
  ).toEqual([
    ["warn", "ASYNC_INDEXING"],
    ["warn", "GRPC_PORT"],
  ]);
});

describe("U1: names of modules", () => {
  it.each([
    ["ENABLE_MODULES", "text2vec-contextionry", "text2vec-contextionary"],
    ["ENABLE_MODULES", "text2vec-contextionary,Img2vec-neural", "img2vec-neural"],
    ["ENABLE_MODULES", "../../etc/passwd", BUILT],
    ["DEFAULT_VECTORIZER_MODULE", "text2vec-contextionry", "none, text2vec-contextionary"],
    ["DEFAULT_VECTORIZER_MODULE", "text2vec-openai", "none, text2vec-contextionary"],
  ])("%s=%s stops the start with a line that names it and what there is", async (variable, value, known) => {
    const { code, stdout, stderr } = await runServer({ [variable]: value, PORT: "0", PERSISTENCE_DATA_PATH: dataPath });
    expect(code).toBe(1);
    const lines = stderr.trim().split("\n");
    const line = lines.at(-1) ?? "";
    expect(line, stdout + stderr).toContain(variable);
    expect(line).toContain(value.split(",").at(-1));
    expect(line).toContain(known);
  });

  it("those that only the reference has are skipped with a warning; a class that names one is refused in plain words", async () => {
    await using server = await ServerProcess.start({
      env: {
        ENABLE_MODULES: "text2vec-openai,ner-transformers,generative-cohere,backup-filesystem",
        LOG_FORMAT: "json",
      },
    });
    const lines = server.output.split("\n").filter((text) => text.includes("that this server does not have"));
    expect(lines.map((line) => at(JSON.parse(line), "name")).sort()).toEqual([
      "backup-filesystem",
      "generative-cohere",
      "text2vec-openai",
    ]);
    const meta = await server.http.get("/v1/meta");
    expect(Object.keys(at(meta.json, "modules") as object)).toEqual(["ner-transformers"]);
    const made = await server.http.post("/v1/schema", { class: "Doc", vectorizer: "text2vec-openai" });
    expect(made.status).toBe(422);
    expect(errorOf(made)).toBe(
      'vectorizer: no module with name "text2vec-openai" present: this server does not have this module; ' +
        "give 'none' and send the vectors yourself, or name one of `modules` in GET /v1/meta",
    );
  });
});
