import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, at, errorOf } from "../http-client.js";
import type { ServerProcess } from "../server-process.js";
import { MINE_ID, SECRET_ID, startRolesServer, UserClient } from "../testing/roles-server.js";

const NOWHERE = "00000000-0000-4000-8000-0000000000fe";
const OWN_ID = "00000000-0000-4000-8000-0000000000a1";

let server: ServerProcess;
let root: UserClient;
let writer: UserClient;
/** May change objects of `Mine` and not read them. */
let blind: UserClient;

async function newUser(name: string, ...permissions: readonly (readonly [string, string])[]): Promise<UserClient> {
  const role = permissions.map(([verb, collection]) => ({ action: `${verb}_data`, data: { collection } }));
  await root.expect(201, "POST", "/v1/authz/roles", { name, permissions: role });
  const { json } = await root.expect(201, "POST", `/v1/users/db/${name}`, {});
  await root.expect(200, "POST", `/v1/authz/users/${name}/assign`, { roles: [name], userType: "db" });
  return new UserClient(server.url, String(at(json, "apikey")));
}

beforeAll(async () => {
  server = await startRolesServer();
  root = UserClient.of(server.url, "root");
  writer = UserClient.of(server.url, "writer");
  blind = await newUser("blind-writer", ["update", "Mine"], ["create", "Mine"]);
  await root.expect(200, "POST", "/v1/schema", {
    class: "Another",
    properties: [{ name: "name", dataType: ["text"] }],
  });
  const any = { name: "any", dataType: ["Another", "Mine", "Secret"] };
  await root.expect(200, "POST", "/v1/schema/Mine/properties", any);
});
afterAll(() => server?.[Symbol.asyncDispose]());

const beacon = (id: string) => ({ beacon: `weaviate://localhost/${id}` });
const targets = async (property = "other"): Promise<readonly unknown[]> => {
  const list = at((await root.expect(200, "GET", `/v1/objects/${MINE_ID}`)).json, "properties", property);
  return (Array.isArray(list) ? list : []).map((one) => at(one, "beacon"));
};

describe("S-roles: references to what one may not see", () => {
  it("can be written back in all the ways in which an object is written, by who has read them", async () => {
    const read = (await writer.expect(200, "GET", `/v1/objects/${MINE_ID}?include=vector`)).json as object;
    expect(await targets()).toEqual([beacon(SECRET_ID).beacon]);
    const changed = { ...read, properties: { ...(at(read, "properties") as object), name: "changed" } };
    for (const answer of [
      await writer.send("PUT", `/v1/objects/${MINE_ID}`, changed),
      await writer.send("PATCH", `/v1/objects/${MINE_ID}`, {
        class: "Mine",
        properties: { other: [beacon(SECRET_ID)] },
      }),
      await writer.send("PUT", `/v1/objects/${MINE_ID}/references/other`, [beacon(SECRET_ID)]),
      await writer.send("POST", "/v1/batch/objects", { objects: [changed] }),
    ]) {
      expect(answer.status, answer.text).toBeLessThan(300);
      expect(answer.text).not.toContain("errors");
      expect(await targets()).toContain(beacon(SECRET_ID).beacon);
    }
    expect(at((await root.get(`/v1/objects/${MINE_ID}`)).json, "properties", "name")).toBe("changed");
  });

  it("cannot be put where they are not, nor by who cannot read them: no different from what is nowhere", async () => {
    const answers = async (user: UserClient, id: string) => {
      const object = { class: "Mine", vector: [1, 2] };
      const asked = [
        await user.send("PUT", `/v1/objects/${MINE_ID}`, { ...object, properties: { next: [beacon(id)] } }),
        await user.send("PUT", `/v1/objects/${MINE_ID}`, { ...object, properties: { any: [beacon(id)] } }),
        await user.send("PATCH", `/v1/objects/${MINE_ID}`, { ...object, properties: { next: [beacon(id)] } }),
        await user.send("PUT", `/v1/objects/${MINE_ID}/references/next`, [beacon(id)]),
        await user.send("POST", `/v1/objects/${MINE_ID}/references/other`, beacon(id)),
        await user.send("POST", "/v1/objects", { ...object, properties: { other: [beacon(id)] } }),
        await user.send("POST", "/v1/objects/validate", { ...object, properties: { other: [beacon(id)] } }),
      ];
      return asked.map(({ status, text }) => `${status} ${text}`.replaceAll(id, "ID"));
    };
    expect(await answers(writer, SECRET_ID)).toEqual(await answers(writer, NOWHERE));
    for (const answer of await answers(writer, SECRET_ID)) expect(answer).toMatch(/^422/);
    const held = async (id: string) => {
      const object = { class: "Mine", vector: [1, 2], properties: { other: [beacon(id)] } };
      const asked = [
        await blind.send("PUT", `/v1/objects/${MINE_ID}`, object),
        await blind.send("PATCH", `/v1/objects/${MINE_ID}`, object),
        await blind.send("PUT", `/v1/objects/${MINE_ID}/references/other`, [beacon(id)]),
        await blind.send("POST", "/v1/batch/objects", { objects: [{ ...object, id: MINE_ID }] }),
      ];
      return asked.map(({ status, text }) => `${status} ${text}`.replaceAll(id, "ID").replaceAll(/\d{13}/g, "TIME"));
    };
    expect(await held(SECRET_ID)).toEqual(await held(NOWHERE));
    expect((await held(SECRET_ID))[0]).toContain("no object with id ID found");
  });

  it("can be written back when what they point to is gone, too; who sees all classes learns that it is", async () => {
    const gone = "00000000-0000-4000-8000-0000000000a2";
    await root.expect(200, "POST", "/v1/objects", { class: "Secret", id: gone, vector: [1, 2] });
    await root.expect(200, "PUT", `/v1/objects/${MINE_ID}/references/other`, [beacon(SECRET_ID), beacon(gone)]);
    await root.expect(204, "DELETE", `/v1/objects/${gone}`);
    const list = [beacon(SECRET_ID), beacon(gone)];
    await writer.expect(200, "PUT", `/v1/objects/${MINE_ID}/references/other`, list);
    expect(errorOf(await root.send("PUT", `/v1/objects/${MINE_ID}/references/other`, list))).toContain(
      "no object with id",
    );
    await root.expect(200, "PUT", `/v1/objects/${MINE_ID}/references/other`, [beacon(SECRET_ID)]);
  });
});

const OBJECT = { class: "Mine", vector: [1, 2] };
const near = (argument: string) => ({ query: `{ Get { Mine(nearObject: {${argument}}) { name } } }` });
const where = (path: string, id: string) => ({
  query: `{ Get { Mine(where: {path: [${path}], operator: Equal, valueString: "${id}"}) { name } } }`,
});
const link = (from: string, to: string) => ({ from: `weaviate://localhost/${from}`, ...{ to: beacon(to).beacon } });

/** Everything that takes an id or the beacon of an object, by method and path; `Hidden` stands for a class that one cannot see. */
const REQUESTS: readonly [string, string, unknown?][] = [
  ["GET", "/v1/objects/ID"],
  ["GET", "/v1/objects/ID?include=vector,classification"],
  ["HEAD", "/v1/objects/ID"],
  ["DELETE", "/v1/objects/ID"],
  ["PUT", "/v1/objects/ID", { ...OBJECT, id: "ID" }],
  ["PUT", "/v1/objects/ID", { class: "Hidden", vector: [1, 2] }],
  ["PATCH", "/v1/objects/ID", OBJECT],
  ["PATCH", "/v1/objects/ID", { class: "Hidden" }],
  ["POST", "/v1/objects/validate", { ...OBJECT, properties: { next: [beacon("ID")] } }],
  ["POST", "/v1/objects/validate", { ...OBJECT, id: "ID" }],
  ["POST", "/v1/objects", { ...OBJECT, properties: { any: [beacon(MINE_ID), beacon("ID")] } }],
  ["POST", "/v1/objects", { ...OBJECT, properties: { unseen: [beacon("ID")] } }],
  ["POST", "/v1/objects", { ...OBJECT, vector: [1], properties: { next: [beacon("ID")] } }],
  ["POST", "/v1/objects/ID/references/next", beacon(MINE_ID)],
  ["PUT", "/v1/objects/ID/references/next", [beacon(MINE_ID)]],
  ["DELETE", "/v1/objects/ID/references/next", beacon(MINE_ID)],
  ["POST", `/v1/objects/${OWN_ID}/references/any`, beacon("ID")],
  ["POST", `/v1/objects/${OWN_ID}/references/name`, beacon("ID")],
  ["PUT", `/v1/objects/${OWN_ID}/references/any`, [beacon(MINE_ID), beacon("ID")]],
  ["DELETE", `/v1/objects/${OWN_ID}/references/any`, beacon("ID")],
  ["POST", "/v1/batch/objects", { objects: [{ ...OBJECT, id: OWN_ID, properties: { any: [beacon("ID")] } }] }],
  ["POST", "/v1/batch/objects", { objects: [{ ...OBJECT, id: OWN_ID, properties: { unseen: [beacon("ID")] } }] }],
  ["POST", "/v1/batch/objects", { objects: [{ class: "Hidden", id: "ID", vector: [1, 2] }] }],
  ["POST", "/v1/batch/references", [link(`Mine/${OWN_ID}/any`, "ID"), link(`Mine/${OWN_ID}/name`, "ID")]],
  ["POST", "/v1/batch/references", [link("Mine/ID/next", MINE_ID), link("Hidden/ID/next", MINE_ID)]],
  ["POST", "/v1/graphql", near('id: "ID"')],
  ["POST", "/v1/graphql", near('beacon: "weaviate://localhost/ID"')],
  ["POST", "/v1/graphql", near('id: "ID", certainty: 0.9')],
  ["POST", "/v1/graphql", { query: '{ Explore(nearObject: {id: "ID"}) { beacon } }' }],
  ["POST", "/v1/graphql", { query: '{ Explore(nearObject: {beacon: "weaviate://localhost/ID"}) { beacon } }' }],
  ["POST", "/v1/graphql", where('"id"', "ID")],
  ["POST", "/v1/graphql", where('"any", "Mine", "id"', "ID")],
  ["POST", "/v1/graphql", where('"any", "Hidden", "id"', "ID")],
  ["POST", "/v1/graphql", { query: "{ Get { Mine { any { ... on Hidden { name } } } } }" }],
  ["POST", "/v1/graphql", { query: '{ Get { Mine(ask: {question: "ID"}) { name } } }' }],
  [
    "POST",
    "/v1/graphql",
    {
      query:
        '{ Explore(nearText: {concepts: ["car"], moveTo: {force: 0.5, objects: [{id: "ID"}]}, moveAwayFrom: {force: 0.5, objects: [{beacon: "weaviate://localhost/ID"}]}}) { beacon } }',
    },
  ],
  [
    "POST",
    "/v1/graphql",
    {
      query:
        '{ Get { MineText(nearText: {concepts: ["car"], moveTo: {force: 0.5, objects: [{id: "ID"}]}}) { _additional { id } } } }',
    },
  ],
  ["GET", "/v1/objects?class=Hidden&after=ID&limit=1"],
  ...["sourceWhere", "trainingSetWhere"].map((name) => {
    const filter = { operator: "Equal", path: ["any", "Hidden", "id"], valueString: "ID" };
    const body = { type: "knn", class: "Mine", classifyProperties: ["next"], basedOnProperties: ["name"] };
    return ["POST", "/v1/classifications", { ...body, filters: { [name]: filter } }] satisfies [
      string,
      string,
      unknown,
    ];
  }),
  [
    "POST",
    "/v1/classifications",
    {
      ...{ type: "zeroshot", class: "Mine", classifyProperties: ["next"] },
      filters: { targetWhere: { operator: "Equal", path: ["id"], valueString: "ID" } },
    },
  ],
  ["POST", "/v1/classifications", { type: "knn", class: "Hidden", classifyProperties: ["next"] }],
];

describe("S-roles: hidden and absent answer alike", () => {
  beforeAll(async () => {
    await root.expect(200, "POST", "/v1/schema", {
      class: "MineText",
      vectorizer: "text2vec-contextionary",
      properties: [{ name: "name", dataType: ["text"] }],
    });
    await writer.expect(200, "POST", "/v1/objects", { ...OBJECT, id: OWN_ID });
  });

  const ask = async (method: string, path: string, body: unknown, id: string, className: string): Promise<string> => {
    const filled = (text: string) => text.replaceAll(/\bID\b/g, id).replaceAll("Hidden", className);
    const given = body === undefined ? undefined : JSON.parse(filled(JSON.stringify(body)));
    const { status, text }: Answer = await writer.send(method, filled(path), given);
    return `${status} ${text}`
      .replaceAll(id, "ID")
      .replaceAll(className, "Hidden")
      .replaceAll(/\d{13}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-(?!00000000)[0-9a-f]{12}/g, "FRESH");
  };

  it.each(REQUESTS)("%s %s %j", async (method, path, body) => {
    const hidden = await ask(method, path, body, SECRET_ID, "Secret");
    const absent = await ask(method, path, body, NOWHERE, "Absent");
    expect(hidden).toBe(absent);
    expect(hidden).not.toMatch(/^5/);
  });
});
