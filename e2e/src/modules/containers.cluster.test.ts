import { afterAll, beforeAll, expect, it } from "vitest";
import { Cluster } from "../cluster/cluster.js";
import { type Answer, at, graphqlErrors, type HttpClient } from "../http-client.js";
import { FakeContainers, IDS, imageOf, importArticlesAndPhotos, TITLES, vectorOf } from "../testing/fake-containers.js";

const CONTAINERS = {
  texts: "text2vec-transformers",
  images: "img2vec-neural",
  answers: "qna-transformers",
  names: "ner-transformers",
  spelling: "text-spellcheck",
} as const;
type Container = keyof typeof CONTAINERS;

interface Request {
  readonly about: string;
  /** Fails without these. */
  readonly needs: readonly Container[];
  readonly send: (http: HttpClient) => Promise<Answer>;
  /** Whole, when nothing fails. */
  readonly answer: unknown;
}

function search(about: string, needs: readonly Container[], query: string, answer: object): Request {
  return { about, needs, send: (http) => http.graphql(query), answer: { data: answer, errors: null } };
}

const REQUESTS: readonly Request[] = [
  search("nearText", ["texts"], '{ Get { Article(nearText: {concepts: ["market"]}, limit: 1) { title } } }', {
    Get: { Article: [{ title: TITLES[1] }] },
  }),
  search(
    "nearText, corrected where that can be done",
    ["texts"],
    '{ Explore(nearText: {concepts: ["frog in oslo"], autocorrect: true}, limit: 1) { beacon } }',
    { Explore: [{ beacon: `svc://localhost/${IDS[2]}` }] },
  ),
  search("nearImage", ["images"], `{ Get { Photo(nearImage: {image: "${imageOf(199, 3)}"}, limit: 1) { image } } }`, {
    Get: { Photo: [{ image: imageOf(200, 1) }] },
  }),
  search(
    "ask",
    ["texts", "answers"],
    '{ Get { Article(ask: {question: "Where is Oslo?"}, limit: 1) { title _additional { answer { result certainty } } } } }',
    { Get: { Article: [{ title: TITLES[2], _additional: { answer: { result: "far away", certainty: 0.8 } } }] } },
  ),
  search(
    "tokens",
    ["names"],
    `{ Get { Article(where: {path: ["title"], operator: Equal, valueText: "oslo"})
      { _additional { tokens(properties: ["title"]) { word entity } } } } }`,
    { Get: { Article: [{ _additional: { tokens: [{ word: "Oslo", entity: "I-LOC" }] } }] } },
  ),
  search(
    "spellCheck",
    ["texts", "spelling"],
    '{ Get { Article(nearText: {concepts: ["Fotball cup"]}, limit: 1) { _additional { id spellCheck { didYouMean } } } } }',
    { Get: { Article: [{ _additional: { id: IDS[0], spellCheck: [{ didYouMean: "football cup" }] } }] } },
  ),
  {
    about: "an article that is stored again",
    needs: ["texts"],
    send: (http) => stored(http, "Article", IDS[1], { title: TITLES[1] }),
    answer: expect.objectContaining({ vector: vectorOf(TITLES[1]) }),
  },
  {
    about: "a photo that is stored again",
    needs: ["images"],
    send: (http) => stored(http, "Photo", "a0000000-0000-0000-0000-000000000009", { image: imageOf(100, 100) }),
    answer: expect.objectContaining({ vector: [100, 100] }),
  },
];

/** The answer of the request that fails, or the object as it is stored. */
async function stored(http: HttpClient, className: string, id: string | undefined, properties: object) {
  const { json } = await http.post("/v1/batch/objects", { objects: [{ class: className, id, properties }] });
  const message = at(json, 0, "result", "errors", "error", 0, "message");
  const answer = await http.get(`/v1/objects/${id}?include=vector`);
  return message === undefined ? answer : { ...answer, json: { errors: [{ message }] } };
}

let containers: FakeContainers;
let cluster: Cluster;

beforeAll(async () => {
  containers = await FakeContainers.start();
  cluster = await Cluster.start({
    gateways: 2,
    storageNodes: 2,
    etcdMembers: 0,
    env: { ...containers.settings, WIRE_PROFILE: "spec" },
  });
  const [first] = cluster.gateways;
  if (first === undefined) throw new Error("there are two gateways");
  await importArticlesAndPhotos(first.http);
});
afterAll(async () => {
  for (const one of [cluster, containers]) await one?.[Symbol.asyncDispose]();
});

/** Sends every request to every gateway at once. With `failing`, those that need it fail with that reason. */
async function expectAnswers(failing?: Container, reason = ""): Promise<void> {
  const all = cluster.gateways.flatMap(({ name, http }) => REQUESTS.map((request) => ({ name, http, request })));
  const answers = await Promise.all(all.map(async (one) => ({ ...one, answer: await one.request.send(one.http) })));
  for (const { name, request, answer } of answers) {
    const about = `${request.about} over ${name}`;
    if (failing === undefined || !request.needs.includes(failing)) {
      expect(answer.json, about).toEqual(request.answer);
      continue;
    }
    const { host } = new URL(containers[failing].address);
    const messages = graphqlErrors(answer);
    expect(messages, about).toHaveLength(1);
    expect(messages[0], about).toContain(`the container of ${CONTAINERS[failing]} at ${host}: ${reason}`);
  }
}

it("objects that one gateway imported have the vectors of the containers, and both gateways find them", async () => {
  for (const { http } of cluster.gateways) {
    const objects = at((await http.get("/v1/objects?class=Article&after=&include=vector")).json, "objects");
    expect(objects).toMatchObject(TITLES.map((title, i) => ({ id: IDS[i], vector: vectorOf(title) })));
    const photos = at((await http.get("/v1/objects?class=Photo&include=vector")).json, "objects") as readonly object[];
    const vectors = photos.map((photo) => at(photo, "vector"));
    expect(vectors).toEqual(
      expect.arrayContaining([
        [1, 200],
        [200, 1],
      ]),
    );
  }
  await expectAnswers();
});

it.each(Object.keys(CONTAINERS) as readonly Container[])(
  "without the container of %s both gateways say so, answer everything else, and use it again when it is back",
  async (name) => {
    const container = containers[name];
    container.always = "error";
    await expectAnswers(name, "it answered with status 500").finally(() => {
      container.always = undefined;
    });
    await container.close();
    await expectAnswers(name, "cannot be reached: ").finally(() => container.listen());
    await expectAnswers();
  },
);
