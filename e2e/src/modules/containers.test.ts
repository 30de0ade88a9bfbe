import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runServer, ServerProcess } from "../server-process.js";
import { FakeContainers, IDS, imageOf, importArticlesAndPhotos, TITLES, vectorOf } from "../testing/fake-containers.js";

let containers: FakeContainers;
let server: ServerProcess;

async function graphql(
  query: string,
): Promise<{ readonly data: never; readonly errors: readonly { message: string }[] }> {
  const { status, json } = await server.http.post("/v1/graphql", { query });
  expect(status).toBe(200);
  return json as never;
}

beforeAll(async () => {
  containers = await FakeContainers.start();
  server = await ServerProcess.start({ env: { ...containers.settings, WIRE_PROFILE: "spec" } });
  await importArticlesAndPhotos(server.http);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await containers[Symbol.asyncDispose]();
});

describe("classes", () => {
  // covers: rest/4.2/transformers-defaults
  it("of text2vec-transformers show its defaults", async () => {
    expect((await server.http.get("/v1/schema/Article")).json).toMatchObject({
      moduleConfig: { "text2vec-transformers": { poolingStrategy: "masked_mean", vectorizeClassName: false } },
      properties: [{ moduleConfig: { "text2vec-transformers": { skip: false, vectorizePropertyName: false } } }],
    });
  });

  // covers: rest/4.2/img2vec
  it("of img2vec-neural need imageFields", async () => {
    const { status, json } = await server.http.post("/v1/schema", { class: "Bare", vectorizer: "img2vec-neural" });
    expect([status, JSON.stringify(json)]).toEqual([
      422,
      expect.stringContaining("module 'img2vec-neural': imageFields not present"),
    ]);
  });

  it("have the module's vector, also of one object", async () => {
    const { json } = await server.http.get(`/v1/objects/${IDS[0]}?include=vector`);
    expect((json as { vector: number[] }).vector).toEqual(vectorOf(TITLES[0]));
  });
});

describe("searches", () => {
  it("nearText finds the nearest, in Get and Explore, corrected or not", async () => {
    const near = (more: string) => `nearText: {concepts: ["Fotball"]${more}}, limit: 1`;
    const spellCheck =
      "_additional { id spellCheck { originalText didYouMean location numberOfCorrections changes { original corrected } } }";
    const check = {
      originalText: "Fotball",
      didYouMean: "football",
      location: "nearText.concepts[0]",
      numberOfCorrections: 1,
      changes: [{ original: "fotball", corrected: "football" }],
    };
    expect(await graphql(`{ Get { Article(${near(", autocorrect: true")}) { ${spellCheck} } } }`)).toMatchObject({
      data: { Get: { Article: [{ _additional: { id: IDS[0], spellCheck: [check] } }] } },
    });
    expect(await graphql(`{ Explore(${near(", autocorrect: true")}) { beacon } }`)).toMatchObject({
      data: { Explore: [{ beacon: `svc://localhost/${IDS[0]}` }] },
    });
    // Without correction it is a word that no text has.
    expect(containers.texts.asked.at(-1)?.body.text).toBe("football");
    await graphql(`{ Get { Article(${near("")}) { title } } }`);
    expect(containers.texts.asked.at(-1)?.body.text).toBe("Fotball");
    expect(await graphql(`{ Get { Article(limit: 1) { _additional { spellCheck { didYouMean } } } } }`)).toMatchObject({
      data: { Get: { Article: [{ _additional: { spellCheck: [] } }] } },
    });
  });

  // covers: graphql/2.1/near-image, graphql/2.2/near-image
  it("nearImage finds what looks alike, in Get and Explore", async () => {
    const image = imageOf(199, 3);
    const expected = imageOf(200, 1);
    expect(await graphql(`{ Get { Photo(nearImage: {image: "${image}", certainty: 0.9}) { image } } }`)).toMatchObject({
      data: { Get: { Photo: [{ image: expected }] } },
    });
    expect(await graphql(`{ Explore(nearImage: {image: "${image}"}) { className } }`)).toMatchObject({
      data: { Explore: [{ className: "Photo" }, { className: "Photo" }] },
    });
    expect((await graphql(`{ Get { Photo(nearImage: {image: ""}) { image } } }`)).errors[0]?.message).toBe(
      "nearImage.image is empty: give an image in base64",
    );
    const other = await server.http.post("/v1/graphql", {
      query: `{ Get { Article(nearImage: {image: "x"}) { title } } }`,
    });
    expect(other.text).toContain("nearImage");
  });

  // covers: graphql/2.1/ask, graphql/2.2/ask
  it("ask finds the text that answers, and its first row has the answer", async () => {
    const answer = "_additional { answer { result property startPosition endPosition certainty hasAnswer } }";
    const ask = (more = "") => `ask: {question: "Where is Oslo?"${more}}`;
    const startPosition = TITLES[2]?.indexOf("far away") ?? -1;
    expect(await graphql(`{ Get { Article(${ask()}) { title ${answer} } } }`)).toMatchObject({
      data: {
        Get: {
          Article: [
            {
              title: TITLES[2],
              _additional: {
                answer: {
                  result: "far away",
                  property: "title",
                  startPosition,
                  endPosition: startPosition + "far away".length,
                  certainty: 0.8,
                  hasAnswer: true,
                },
              },
            },
            { title: expect.any(String), _additional: null },
            { title: expect.any(String), _additional: null },
          ],
        },
      },
    });
    expect(await graphql(`{ Explore(${ask()}, limit: 1) { beacon } }`)).toMatchObject({
      data: { Explore: [{ beacon: `svc://localhost/${IDS[2]}` }] },
    });
    await graphql(`{ Get { Article(ask: {question: "Who plays fotball?", autocorrect: true}) { ${answer} } } }`);
    expect(containers.answers.asked.at(-1)?.body.question).toBe("who plays football?");
    const messages = async (query: string) => (await graphql(query)).errors[0]?.message;
    expect(await messages(`{ Get { Article(ask: {question: ""}) { title } } }`)).toBe(
      "ask.question is empty: give a question",
    );
    expect(await messages(`{ Get { Article { ${answer} } } }`)).toBe(
      "_additional.answer: there is no question: it needs the argument ask with a question",
    );
    expect(await messages(`{ Get { Photo(${ask()}) { image } } }`)).toContain("makes no vectors of texts");
  });

  it("tokens are the names in the listed properties", async () => {
    const tokens = (given: string) =>
      graphql(`{ Get { Article(where: {path: ["title"], operator: Equal, valueText: "oslo"}) {
        _additional { tokens(${given}) { property entity certainty word startPosition endPosition } } } } }`);
    const startPosition = TITLES[2]?.indexOf("Oslo") ?? -1;
    const token = {
      property: "title",
      entity: "I-LOC",
      certainty: 0.75,
      word: "Oslo",
      startPosition,
      endPosition: startPosition + 4,
    };
    const given = { data: { Get: { Article: [{ _additional: { tokens: [token] } }] } } };
    expect(await tokens(`properties: ["title"], limit: 3`)).toMatchObject(given);
    expect(await tokens(`properties: ["title"], certainty: 0.75`)).toMatchObject(given);
    expect(await tokens(`properties: ["title"], certainty: 0.8`)).toMatchObject({
      data: { Get: { Article: [{ _additional: { tokens: [] } }] } },
    });
  });
});

it("GET /v1/meta shows what the containers say", async () => {
  expect((await server.http.get("/v1/meta")).json).toMatchObject({
    modules: {
      "text2vec-transformers": { model: "fake" },
      "img2vec-neural": {},
      "qna-transformers": { model: "fake" },
      "ner-transformers": { model: "fake" },
      "text-spellcheck": { model: "fake" },
    },
  });
});

it("a container that is gone fails what needs it, names itself, and is used again when it is back", async () => {
  const store = (title: string) => server.http.post("/v1/objects", { class: "Article", properties: { title } });
  const where = `the container of text2vec-transformers at ${new URL(containers.texts.address).host}: `;
  await containers.texts.close();
  const alone = await store("x");
  expect([alone.status, alone.text]).toEqual([503, expect.stringContaining(where)]);
  const { errors } = await graphql(`{ Get { Article(nearText: {concepts: ["x"]}) { title } } }`);
  expect(errors[0]?.message).toMatch(`nearText: no vector could be made: ${where}`);
  const objects = [
    { class: "Article", properties: { title: "y" } },
    { class: "Photo", properties: { image: "AQE=" } },
  ];
  expect((await server.http.post("/v1/batch/objects", { objects })).json).toMatchObject([
    { result: { errors: { error: [{ message: expect.stringContaining(where) }] } } },
    { result: {} },
  ]);
  expect(await graphql("{ Get { Article { title } } }")).toMatchObject({ errors: null });
  await containers.texts.listen();
  expect((await store("x")).status).toBe(200);
  // What autocorrect cannot ask does not matter.
  await containers.spelling.close();
  expect(
    await graphql(`{ Get { Article(nearText: {concepts: ["market"], autocorrect: true}, limit: 1) { title } } }`),
  ).toMatchObject({ data: { Get: { Article: [{ title: TITLES[1] }] } } });
  await containers.spelling.listen();
});

it.each([
  ["qna-transformers", {}, "required variable QNA_INFERENCE_API is not set"],
  ["qna-transformers", { QNA_INFERENCE_API: "http://127.0.0.1:1" }, "nearText dependency not present"],
  ["img2vec-neural", {}, "required variable IMAGE_INFERENCE_API is not set"],
])("does not start with %s alone and %j", async (name, env, text) => {
  const { code, stdout, stderr } = await runServer({ ...env, ENABLE_MODULES: name, PORT: "0" });
  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain(text);
});
