import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, errorOf, graphqlErrors } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

const SEED = Number(process.env.SEED ?? 20_261_124);
const ID = "11111111-1111-1111-1111-111111111111";

/** The language of an implementation, and what only a fault of ours would say. */
const FORBIDDEN =
  /strfmt|Go struct|Go value|interface ?\{\}|map\[|\[\]byte|json\.Number|<nil>|\bnil\b|strconv|unmarshal|looking for beginning|rpc error|goroutine|models\.|\bundefined\b|\[object |\bNaN\b|TypeError|node_modules|\.[jt]s:\d+|\n\s+at /;

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start({
    env: {
      AUTOSCHEMA_ENABLED: "false",
      QUERY_MAXIMUM_RESULTS: "50",
      QUERY_DEFAULTS_LIMIT: "20",
      BATCH_OBJECTS_MAX: "3",
    },
  });
  const car = [
    { name: "name", dataType: ["text"] },
    { name: "wheels", dataType: ["int"] },
    { name: "price", dataType: ["number"] },
    { name: "isNew", dataType: ["boolean"] },
    { name: "built", dataType: ["date"] },
    { name: "tags", dataType: ["text[]"] },
    { name: "place", dataType: ["geoCoordinates"] },
    { name: "call", dataType: ["phoneNumber"] },
    { name: "photo", dataType: ["blob"] },
    { name: "hidden", dataType: ["text"], indexInverted: false },
  ];
  await server.http.post("/v1/schema", { class: "Car", properties: car });
  await server.http.post("/v1/schema/Car/properties", { name: "owner", dataType: ["Car"] });
  await server.http.post("/v1/objects", { class: "Car", id: ID, properties: { name: "a" }, vector: [1, 2, 3] });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Method and path, body (a text goes as it is), status, and what the message says: value, place, rule. */
type Case = [request: string, body: unknown, status: number, ...says: string[]];

const object = (properties: unknown, rest: object = {}) => ({ class: "Car", vector: [1, 2, 3], properties, ...rest });
const POST = "POST /v1/objects";
const SCHEMA = "POST /v1/schema";

const REST: readonly Case[] = [
  [
    POST,
    '{"class": "Car",\n  "vector": [1, 2,]}',
    400,
    "line 2, column 19",
    "found ']'",
    "expected a value",
    "[1, 2,]",
  ],
  [POST, "{'class': 1}", 400, "line 1, column 2", "found '''", "a member's name in double quotes"],
  [POST, '{"class": "Car"', 400, "found the end of the text", "',' or '}'"],
  [POST, '{"a":\u0001}', 400, "found '\\u0001'", "expected a value"],
  [POST, '{"a":"\\q"}', 400, "found 'q'", "behind the backslash"],
  [POST, '{"a":nul}', 400, "found '}'", "the word null"],
  [POST, "", 422, "no body", "JSON"],
  [POST, "[".repeat(300) + "]".repeat(300), 400, "200 levels"],
  [POST, [], 400, "must be an object", "got a list"],
  [POST, { class: 5 }, 400, "member 'class'", "must be a string", "the number 5"],
  [POST, { class: "Car", vector: [1, "x"] }, 400, "vector[1]", "float32", '"x"'],
  [POST, '{"class":"Car","vector":[1e39]}', 400, "vector[0]", "float32", "1e39"],
  [POST, { class: "Car", id: 7 }, 400, "member 'id'", "UUID", "the number 7"],
  [POST, { class: "Car", id: "x" }, 422, "member 'id'", "UUID", '"x"'],
  [POST, { vector: [1] }, 422, "names no class", "member 'class'"],
  [POST, object({}, { class: "Cra" }), 422, "could not find class 'Cra'", "did you mean 'Car'?"],
  [POST, object({}, { class: "Zeppelin" }), 422, "could not find class 'Zeppelin'", "POST /v1/schema"],
  [POST, object({ nmae: "x" }), 422, "no such prop with name 'nmae'", "class 'Car'", "did you mean 'name'?"],
  [POST, object({ unlike: "x" }), 422, "no such prop with name 'unlike'", "it has name, wheels"],
  [POST, object({ name: 5 }), 422, "'name'", "'Car'", "not a string", "the number 5"],
  [POST, object({ wheels: "4" }), 422, "'wheels'", "integer", '"4"'],
  [POST, object({ wheels: 4.5 }), 422, "'wheels'", "without fraction", "4.5"],
  [POST, object({ price: {} }), 422, "'price'", "a number", "an object"],
  [POST, object({ isNew: "yes" }), 422, "'isNew'", "true or false", '"yes"'],
  [POST, object({ built: "today" }), 422, "'built'", "RFC 3339", '"today"'],
  [POST, object({ tags: ["a", 1] }), 422, "'tags'", "element 1", "not a string", "the number 1"],
  [POST, object({ tags: "a" }), 422, "'tags'", "not a list", '"a"'],
  [POST, object({ place: { latitude: "1", longitude: 2 } }), 422, "'place'", "'latitude'", "a number", '"1"'],
  [POST, object({ call: { input: 5 } }), 422, "'call'", "'input'", "a string", "the number 5"],
  [POST, object({ photo: "%" }), 422, "'photo'", "base64", '"%"'],
  [POST, object({ owner: { beacon: "x" } }), 422, "'owner'", "list of references", "an object"],
  [POST, object({ owner: [{ beacon: "x" }] }), 422, "'owner'", "element 0", "'x'"],
  [POST, object([]), 422, "properties of class 'Car'", "an object", "a list"],
  [POST, { class: "Car", vector: [1, 2] }, 422, "class 'Car'", "3 dimensions", "one of 2", "same model"],
  [POST, { class: "Car" }, 422, "class 'Car'", "no vectorizer", "member 'vector'"],
  [POST, object({}, { id: ID }), 422, `'${ID}'`, "already exists"],
  ["PUT /v1/objects/x", {}, 422, "id in the path", "UUID", '"x"'],
  [`PUT /v1/objects/${ID}/references/owner`, {}, 400, "a list of references", "an object"],
  [`POST /v1/objects/${ID}/references/owner`, { beacon: 5 }, 400, "member 'beacon'", "URI", "the number 5"],
  [
    `POST /v1/objects/${ID}/references/onwer`,
    { beacon: `svc://localhost/${ID}` },
    422,
    "'onwer'",
    "did you mean 'owner'?",
  ],
  ["POST /v1/batch/objects", { objects: {} }, 400, "member 'objects'", "a list", "an object"],
  ["POST /v1/batch/objects", { objects: [{}, { class: 1 }] }, 400, "objects[1].class", "a string", "the number 1"],
  ["POST /v1/batch/objects", { objects: [{}, {}, {}, {}] }, 413, "4 objects", "at most 3", "BATCH_OBJECTS_MAX"],
  ["POST /v1/batch/objects", { objects: [], fields: ["x"] }, 422, "fields[0]", "one of ALL", '"x"'],
  ["GET /v1/objects?limit=abc", undefined, 422, "'limit'", "integer", '"abc"'],
  ["GET /v1/objects?limit=40&offset=11", undefined, 422, "40", "11", "50", "QUERY_MAXIMUM_RESULTS"],
  ["GET /v1/objects?class=Cra", undefined, 422, "'Cra'", "did you mean 'Car'?"],
  ["GET /v1/objects?include=vectr", undefined, 400, "'include'", '"vectr"', "vector, classification"],
  ["GET /v1/objects?class=Car&after=x", undefined, 422, "'after'", "UUID", '"x"'],
  [SCHEMA, { class: "1a" }, 422, "'1a'", "not a valid class name", "begin with a letter"],
  [SCHEMA, { class: "Van", properties: [{ name: 5 }] }, 400, "properties[0].name", "a string", "the number 5"],
  [
    SCHEMA,
    { class: "Van", properties: [{ name: "a b", dataType: ["text"] }] },
    422,
    "'a b'",
    "not a valid property name",
  ],
  [
    SCHEMA,
    { class: "Van", properties: [{ name: "a", dataType: ["strng"] }] },
    422,
    '"strng"',
    "did you mean 'string'?",
  ],
  [SCHEMA, { class: "Van", properties: [{ name: "a", dataType: ["Cars"] }] }, 422, "'Cars'", "did you mean 'Car'?"],
  [SCHEMA, { class: "Van", vectorizer: "text2vec-x" }, 422, '"text2vec-x"', "ENABLE_MODULES"],
  [SCHEMA, { class: "Van", vectorIndexConfig: { ef: 1.5 } }, 422, "vectorIndexConfig.ef", "integer from", "1.5"],
  [SCHEMA, { class: "Van", shardingConfig: { key: "x" } }, 422, "shardingConfig.key", '"_id"', '"x"'],
  ["POST /v1/schema/Cra/properties", { name: "a", dataType: ["int"] }, 422, "'Cra'", "did you mean 'Car'?"],
  ["POST /v1/graphql", '{"query": 5}', 400, "member 'query'", "a string", "the number 5"],
  ["POST /v1/classifications", { class: 5 }, 400, "member 'class'", "a string", "the number 5"],
];

const near = (vector: string) => `{ Get { Car(nearVector: {vector: ${vector}}) { name } } }`;
const where = (clause: string) => `{ Get { Car(where: ${clause}) { name } } }`;
const GRAPHQL: readonly (readonly [query: string, ...says: readonly string[]])[] = [
  [near("[1, 2]"), "class 'Car'", "3 dimensions", "one of 2", "same model"],
  [near("[]"), "is empty", "nearVector.vector"],
  ["{ Get { Car(limit: 51) { name } } }", "51", "50", "QUERY_MAXIMUM_RESULTS"],
  ["{ Get { Car(limit: -5) { name } } }", "limit", "0 or more", "-5"],
  ["{ Get { Cra { name } } }", '"Cra"', 'Did you mean "Car"?'],
  ["{ Get { Car { nmae } } }", '"nmae"', '"Car"', 'Did you mean "name"?'],
  ['{ Get { Car(nearText: {concepts: ["a"]}) { name } } }', '"nearText"', "vectorizer", "text2vec-", "ENABLE_MODULES"],
  ['{ Explore(nearText: {concepts: ["a"]}) { beacon } }', '"nearText"', "vectorizer", "ENABLE_MODULES"],
  ['{ Get { Car(nearImage: {image: "a"}) { name } } }', '"nearImage"', "img2vec-neural", "ENABLE_MODULES"],
  ['{ Get { Car(ask: {question: "a"}) { name } } }', '"ask"', "qna-transformers", "ENABLE_MODULES"],
  ["{ Get { Car { _additional { answer { result } } } } }", '"answer"', "qna-transformers", "ENABLE_MODULES"],
  ["{ Get { Car(nearObject: {}) { name } } }", "nearObject", "id or the beacon"],
  ['{ Get { Car(nearObject: {id: "x"}) { name } } }', "nearObject", "UUID", '"x"'],
  [`{ Get { Car(nearObject: {id: "${ID}"}, nearVector: {vector: [1, 2, 3]}) { name } } }`, "one thing", "'nearObject'"],
  ["{ Explore { beacon } }", "Explore", "nearVector"],
  [where('{operator: Equal, path: ["nmae"], valueText: "x"}'), "where", "'nmae'", "did you mean 'name'?"],
  [where('{operator: Equal, path: ["owner", "Cra", "name"], valueText: "x"}'), "'Cra'", "did you mean 'Car'?"],
  [where('{operator: Equal, path: ["name"], valueInt: 5}'), "where", "valueText", "text"],
  [where('{operator: Equal, path: ["name"]}'), "where", "no value", "valueText"],
  [where('{operator: Equal, path: ["built"], valueDate: "x"}'), "'x'", "RFC 3339"],
  [where('{operator: Equal, path: ["hidden"], valueText: "x"}'), "'hidden'", "indexInverted"],
  ['{ Aggregate { Car(groupBy: ["owner", "Car", "name"]) { meta { count } } } }', "groupBy", "one property", "owner"],
];

describe("U5: the error of a bad request names the value, the place and the rule", () => {
  it.each(REST)("%s %j is %i", async (request, body, status, ...says) => {
    const [method = "", path = ""] = request.split(" ");
    const answer = await server.http.send(method, path, body);
    expect(answer.status, answer.text).toBe(status);
    const message = String(errorOf(answer));
    for (const part of says) expect(message).toContain(part);
    expect(message).not.toMatch(FORBIDDEN);
  });

  it.each(GRAPHQL)("%s", async (query, ...says) => {
    const answer = await server.http.post("/v1/graphql", { query });
    expect(answer.status).toBe(200);
    const [message] = graphqlErrors(answer);
    for (const part of says) expect(message).toContain(part);
    expect(message).not.toMatch(FORBIDDEN);
  });

  it("of a batch, item by item", async () => {
    const objects = [object({ name: 5 }), object({ nmae: "x" }), { class: "Cra", vector: [1] }];
    const { text } = await server.http.post("/v1/batch/objects", { objects });
    for (const part of ["the number 5", "did you mean 'name'?", "did you mean 'Car'?"]) expect(text).toContain(part);
    expect(text).not.toMatch(FORBIDDEN);
  });
});

/** What the messages of an answer say; none of an answer without an error. */
function messagesOf(answer: Answer): string {
  return answer.status >= 400 ? answer.text : graphqlErrors(answer).join("\n");
}

it(`U5: whatever is damaged in a request, no message speaks of an implementation, seed ${SEED}`, async () => {
  const random = seededRandom(SEED);
  const values: readonly unknown[] = [
    null,
    true,
    0,
    -1,
    1.5,
    1e300,
    "",
    "x",
    "\u0000\u202e",
    [],
    [[]],
    {},
    { a: [{}] },
  ];
  const bodies = [...REST.filter(([, body]) => typeof body === "object"), ["POST /v1/graphql", {}, 200] as Case];
  let refused = 0;
  for (let round = 0; round < 1_500; round++) {
    const [request, body] = random.pick(bodies) as Case;
    const [method = "", path = ""] = request.split(" ");
    const query = (random.pick(GRAPHQL) as (typeof GRAPHQL)[number])[0];
    const given = JSON.stringify(path === "/v1/graphql" ? { query } : body);
    const places = [...given.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|true|false|null/g)];
    const place = places[random.below(Math.max(1, places.length))];
    let sent = given;
    if (place !== undefined && random.below(4) > 0) {
      const value = JSON.stringify(random.pick(values));
      sent = given.slice(0, place.index) + value + given.slice(place.index + place[0].length);
    } else sent = given.slice(0, random.below(given.length)) + random.pick(["", "\u0001", "}", "é", "'"]);
    const said = messagesOf(await server.http.send(method, path, sent));
    if (said !== "") refused++;
    expect(said, `${request} ${sent}`).not.toMatch(FORBIDDEN);
    await server.http.send("DELETE", "/v1/schema/Van");
  }
  expect(refused).toBeGreaterThan(700);
});

describe("U5: auto-schema logs what it makes", () => {
  it("the class, the properties with their types, the request, and what they may have been meant to be", async () => {
    await using auto = await ServerProcess.start({ env: { AUTOSCHEMA_ENABLED: "true", LOG_FORMAT: "json" } });
    const store = (className: string, properties: object, requestId: string) =>
      auto.http.send(
        "POST",
        "/v1/objects",
        { class: className, properties, vector: [1] },
        { "X-Request-Id": requestId },
      );
    expect((await store("Article", { title: "a" }, "first")).status).toBe(200);
    expect((await store("Artcle", { title: "a" }, "second")).status).toBe(200);
    expect((await store("Article", { titel: "a", pages: 7 }, "third")).status).toBe(200);
    expect((await store("Article", { title: "b" }, "fourth")).status).toBe(200);
    const lines = auto.output.split("\n").filter((line) => line.includes("auto-schema has"));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: "info", message: "auto-schema has made a class", className: "Article", properties: { title: "text" } },
      { message: "auto-schema has made a class", className: "Artcle", similarClass: "Article", requestId: "second" },
      {
        message: "auto-schema has added properties to a class",
        ...{ className: "Article", properties: { titel: "text", pages: "number" } },
        ...{ similarProperties: { titel: "title" }, requestId: "third" },
      },
    ]);
  });
});
