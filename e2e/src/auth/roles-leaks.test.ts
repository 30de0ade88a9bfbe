import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf, graphqlErrors } from "../http-client.js";
import type { ServerProcess } from "../server-process.js";
import { MINE_ID, SECRET_ID, startRolesServer, UserClient } from "../testing/roles-server.js";

let server: ServerProcess;
let root: UserClient;
let reader: UserClient;
let writer: UserClient;
/** May write into the hidden class and not read it. */
let blind: UserClient;

beforeAll(async () => {
  server = await startRolesServer();
  root = UserClient.of(server.url, "root");
  reader = UserClient.of(server.url, "reader");
  writer = UserClient.of(server.url, "writer");
  const permissions = [{ action: "create_data", data: { collection: "Secret" } }];
  await root.expect(201, "POST", "/v1/authz/roles", { name: "blind", permissions });
  const { json } = await root.expect(201, "POST", "/v1/users/db/blind", {});
  await root.expect(200, "POST", "/v1/authz/users/blind/assign", { roles: ["blind"], userType: "db" });
  blind = new UserClient(server.url, String(at(json, "apikey")));
});
afterAll(() => server?.[Symbol.asyncDispose]());

const refused = (action: string, collection: string) =>
  `insufficient permissions to ${action} [data{collection: ${collection}, tenant: *, object: *}]`;

describe("S-roles: a class that one may not read is as if it were not there", () => {
  it("in GraphQL: its name is nowhere, and it answers as a class that does not exist", async () => {
    const introspection = await reader.graphql(
      "{ __schema { types { name fields { name type { name ofType { name } } } possibleTypes { name } } } }",
    );
    expect(introspection.text).toContain("Mine");
    expect(introspection.text).not.toMatch(/secret/i);
    expect((await root.graphql("{ __schema { types { name } } }")).text).toContain("Secret");
    const errorsOf = async (className: string) =>
      JSON.stringify([
        graphqlErrors(await reader.graphql(`{ Get { ${className} { name } } }`)),
        graphqlErrors(await reader.graphql(`{ Get { ${className}(nearVector: {vector: [1, 2]}) { name } } }`)),
        graphqlErrors(await reader.graphql(`{ Aggregate { ${className} { meta { count } } } }`)),
        graphqlErrors(await reader.graphql(`{ __type(name: "${className}") { name } }`)),
        graphqlErrors(await reader.graphql(`{ Get { Mine { other { ... on ${className} { name } } } } }`)),
        graphqlErrors(
          await reader.graphql(
            `{ Get { Mine(where: {path: ["other", "${className}", "name"], operator: Equal, valueText: "of"}) { name } } }`,
          ),
        ),
      ]);
    const [hidden, absent] = [await errorsOf("Secret"), await errorsOf("Absent")];
    expect(hidden.replaceAll("Secret", "Absent")).toBe(absent);
    expect(hidden).not.toBe("[[],[],[],[],[],[]]");
  });

  it("in GraphQL: known templates of others, explorations and objects to search near tell nothing of it", async () => {
    const query = "{ Get { Secret { name } } }";
    for (let round = 0; round < 3; round++) {
      expect(await root.rows(query, "Get", "Secret")).toHaveLength(1);
      expect(graphqlErrors(await reader.graphql(query))).toHaveLength(1);
    }
    const explored = await reader.rows("{ Explore(nearVector: {vector: [1, 2]}) { beacon className } }", "Explore");
    expect(explored).toMatchObject([{ className: "Mine" }]);
    const near = (id: string) => reader.graphql(`{ Get { Mine(nearObject: {id: "${id}"}) { name } } }`);
    const nowhere = "00000000-0000-4000-8000-0000000000ff";
    const [hidden, absent] = [graphqlErrors(await near(SECRET_ID)), graphqlErrors(await near(nowhere))];
    expect(JSON.stringify(hidden).replaceAll(SECRET_ID, nowhere)).toBe(JSON.stringify(absent));
    expect(graphqlErrors(await near(SECRET_ID))).toHaveLength(1);
    expect(graphqlErrors(await near(MINE_ID))).toEqual([]);
    const batch = await reader.expect(200, "POST", "/v1/graphql/batch", [
      { query },
      { query: "{ Get { Mine { name } } }" },
    ]);
    expect(at(batch.json, 0, "errors")).toHaveLength(1);
    expect(at(batch.json, 1, "data", "Get", "Mine")).toHaveLength(1);
  });

  it("in lists and by id: like an id that does not exist", async () => {
    expect(at((await reader.get("/v1/objects")).json, "objects")).toMatchObject([{ class: "Mine" }]);
    expect(at((await root.get("/v1/objects")).json, "totalResults")).toBe(2);
    const nowhere = "00000000-0000-4000-8000-0000000000ff";
    for (const [method, path] of [
      ["GET", "/v1/objects/"],
      ["GET", "/v1/"],
      ["HEAD", "/v1/objects/"],
      ["DELETE", "/v1/objects/"],
    ] as const) {
      const [hidden, absent] = [await writer.send(method, path + SECRET_ID), await writer.send(method, path + nowhere)];
      expect([hidden.status, hidden.text.replaceAll(SECRET_ID, nowhere)]).toEqual([absent.status, absent.text]);
      expect(hidden.status).toBe(404);
    }
    expect((await root.get(`/v1/objects/${SECRET_ID}`)).status).toBe(200);
  });

  it("in writes: an id or a target that is hidden is one that does not exist", async () => {
    const nowhere = "00000000-0000-4000-8000-0000000000fe";
    const answers = async (id: string) => {
      const beacon = `weaviate://localhost/${id}`;
      const object = { class: "Mine", properties: { name: "n" }, vector: [1, 2] };
      const asked = [
        await writer.send("PUT", `/v1/objects/${id}`, { ...object, id }),
        await writer.send("PATCH", `/v1/objects/${id}`, object),
        await writer.send("POST", `/v1/objects/${MINE_ID}/references/next`, { beacon }),
        await writer.send("PUT", `/v1/objects/${MINE_ID}/references/next`, [{ beacon }]),
        await writer.send("POST", `/v1/objects/${id}/references/next`, { beacon: `weaviate://localhost/${MINE_ID}` }),
        await writer.send("POST", "/v1/objects/validate", { ...object, properties: { next: [{ beacon }] } }),
        await writer.send("POST", "/v1/objects", { ...object, properties: { next: [{ beacon }] } }),
        await writer.send("POST", "/v1/objects", { ...object, properties: { unseen: [{ beacon }] } }),
        await writer.send("POST", "/v1/batch/objects", {
          objects: [{ ...object, properties: { next: [{ beacon }] } }],
        }),
      ];
      return asked.map(({ status, text }) => `${status} ${text}`.replaceAll(id, "ID"));
    };
    const [hidden, absent] = [await answers(SECRET_ID), await answers(nowhere)];
    const stable = (lines: readonly string[]) =>
      lines.map((line) => line.replaceAll(/"(id|creationTimeUnix)":[^,]+/g, ""));
    expect(stable(hidden)).toEqual(stable(absent));
    for (const line of hidden.slice(0, -1)) expect(line).toMatch(/^4/);
    // An id that is taken in a hidden class is free: whoever may not know of it must not learn it from a refusal.
    await writer.expect(200, "POST", "/v1/objects", { class: "Mine", id: SECRET_ID, vector: [1, 2] });
    await writer.expect(204, "DELETE", `/v1/objects/${SECRET_ID}`);
    expect(at((await root.get(`/v1/objects/${SECRET_ID}`)).json, "class")).toBe("Secret");
  });

  it("in refusals: a name is refused before it is looked up", async () => {
    for (const name of ["Secret", "secret", "Absent"]) {
      const shown = name === "secret" ? "Secret" : name;
      const by = `authorization, forbidden action: user 'writer' has`;
      const listed = await writer.get(`/v1/objects?class=${name}`);
      expect([listed.status, errorOf(listed)]).toEqual([403, `${by} ${refused("read_data", shown)}`]);
      const written = await writer.send("POST", "/v1/objects", { class: name, vector: [1, 2] });
      expect([written.status, errorOf(written)]).toEqual([403, `${by} ${refused("create_data", shown)}`]);
      expect((await writer.get(`/v1/schema/${name}`)).status).toBe(403);
      const grown = await UserClient.of(server.url, "schemer").send("POST", "/v1/schema", {
        class: `Mine${name}`,
        properties: [{ name: "p", dataType: [shown] }],
      });
      expect([grown.status, errorOf(grown)]).toEqual([
        403,
        `authorization, forbidden action: user 'schemer' has insufficient permissions to read_collections [collections{collection: ${shown}}]`,
      ]);
    }
  });

  it("in batches: item by item", async () => {
    const objects = ["Mine", "Secret", "Absent", undefined].map((name) => ({ class: name, vector: [1, 2] }));
    const { json } = await writer.expect(200, "POST", "/v1/batch/objects", { objects });
    const messages = [0, 1, 2, 3].map((item) => at(json, item, "result", "errors", "error", 0, "message"));
    expect(messages[0]).toBeUndefined();
    expect(messages[1]).toContain(refused("create_data", "Secret"));
    expect(messages[2]).toContain(refused("create_data", "Absent"));
    expect(messages[3]).toContain("class");
    const long = Array.from({ length: 400 }, (_, n) => ({
      ...objects[n % 2],
      properties: { name: "x".repeat(1_000) },
    }));
    const answer = await writer.expect(200, "POST", "/v1/batch/objects", { objects: long });
    const failed = (answer.json as object[]).filter((item) => at(item, "result", "errors") !== undefined);
    expect(failed).toHaveLength(200);
    const from = (name: string) => ({
      from: `weaviate://localhost/${name}/${MINE_ID}/next`,
      to: `weaviate://localhost/${MINE_ID}`,
    });
    const references = await writer.expect(200, "POST", "/v1/batch/references", [
      from("Secret"),
      from("Mine"),
      from("Absent"),
    ]);
    expect([0, 1, 2].map((item) => at(references.json, item, "result", "status"))).toEqual([
      "FAILED",
      "SUCCESS",
      "FAILED",
    ]);
    expect(await root.rows("{ Aggregate { Secret { meta { count } } } }", "Aggregate", "Secret")).toEqual([
      { meta: { count: 1 } },
    ]);
  });

  it("for whoever may only write into it", async () => {
    const object = { class: "Secret", vector: [1, 2] };
    const { json } = await blind.expect(200, "POST", "/v1/objects", object);
    expect((await blind.get(`/v1/objects/${at(json, "id")}`)).status).toBe(403);
    expect((await blind.get("/v1/objects?class=Secret")).status).toBe(403);
    expect((await blind.send("POST", "/v1/batch/objects", { objects: [object] })).text).toContain("update_data");
    expect((await blind.send("POST", "/v1/objects", { ...object, properties: { grown: "x" } })).text).toContain(
      "insufficient permissions to update_collections [collections{collection: Secret}]",
    );
    expect((await root.get("/v1/schema/Secret")).text).not.toContain("grown");
  });

  it("in the list of nodes and of classes", async () => {
    const names = (await reader.get("/v1/schema")).json;
    expect((at(names, "classes") as object[]).map((one) => at(one, "class"))).toEqual(["Mine"]);
    const permissions = [{ action: "read_nodes", nodes: { verbosity: "verbose", collection: "Mine" } }];
    await root.expect(201, "POST", "/v1/authz/roles", { name: "watcher", permissions });
    await root.expect(200, "POST", "/v1/authz/users/none/assign", { roles: ["watcher"], userType: "db" });
    const { json } = await UserClient.of(server.url, "none").expect(200, "GET", "/v1/nodes");
    const shards = at(json, "nodes", 0, "shards") as object[];
    expect(shards.map((shard) => at(shard, "class"))).toEqual(["Mine"]);
    expect(at(json, "nodes", 0, "stats", "shardCount")).toBe(1);
    await root.expect(200, "POST", "/v1/authz/users/none/revoke", { roles: ["watcher"], userType: "db" });
    expect((await UserClient.of(server.url, "none").get("/v1/nodes")).status).toBe(403);
  });

  it("in classifications: what is read on the way must be readable", async () => {
    const start = (body: object) =>
      writer.send("POST", "/v1/classifications", {
        type: "knn",
        class: "Mine",
        classifyProperties: ["next"],
        basedOnProperties: ["name"],
        ...body,
      });
    expect(errorOf(await start({ classifyProperties: ["other"] }))).toContain(refused("read_data", "Secret"));
    const where = { operator: "Equal", path: ["other", "Secret", "name"], valueText: "x" };
    for (const name of ["sourceWhere", "trainingSetWhere", "SOURCEWHERE"]) {
      const nested = { operator: "And", operands: [where, where] };
      expect(errorOf(await start({ filters: { [name]: nested } })), name).toContain(refused("read_data", "Secret"));
    }
    expect((await start({})).status).toBe(201);
  });

  it("in classifications of others: whose filters go through it, they do not exist", async () => {
    const where = { operator: "Equal", path: ["other", "Secret", "name"], valueText: "no such name" };
    const body = { class: "Mine", classifyProperties: ["next"], basedOnProperties: ["name"] };
    const { json } = await root.expect(201, "POST", "/v1/classifications", {
      ...body,
      filters: { sourceWhere: where },
    });
    const id = String(at(json, "id"));
    const nowhere = "00000000-0000-4000-8000-0000000000fd";
    const [hidden, absent] = [id, nowhere].map((one) => reader.get(`/v1/classifications/${one}`));
    expect([(await hidden)?.status, (await hidden)?.text]).toEqual([404, (await absent)?.text]);
    await root.expect(200, "GET", `/v1/classifications/${id}`);
    const open = await root.expect(201, "POST", "/v1/classifications", body);
    await reader.expect(200, "GET", `/v1/classifications/${String(at(open.json, "id"))}`);
  });

  it("in suggestions of schema changes", async () => {
    const property = { name: "p", dataType: ["MineSecret"] };
    await root.expect(200, "POST", "/v1/schema", { class: "NineSecret" });
    for (const [path, body] of [
      ["/v1/schema", { class: "MineOther", properties: [property] }],
      ["/v1/schema/Mine/properties", property],
      ["/v1/schema/MineSecret/properties", { name: "p", dataType: ["int"] }],
    ] as const) {
      const told = await root.expect(422, "POST", path, body);
      expect(errorOf(told)).toContain("did you mean 'NineSecret'?");
      const { status, text } = await UserClient.of(server.url, "schemer").send("POST", path, body);
      expect([status, text]).toEqual([
        422,
        told.text.replace("did you mean 'NineSecret'?", "create it with POST /v1/schema first"),
      ]);
    }
    await root.expect(200, "DELETE", "/v1/schema/NineSecret");
  });

  it("auto-schema makes nothing that one may not make", async () => {
    const made = await writer.send("POST", "/v1/objects", { class: "MineMade", vector: [1, 2] });
    expect([made.status, errorOf(made)]).toEqual([
      403,
      "authorization, forbidden action: user 'writer' has insufficient permissions to create_collections [collections{collection: MineMade}]",
    ]);
    const grown = { class: "Mine", vector: [1, 2], properties: { grown: "x" } };
    expect((await writer.send("POST", "/v1/objects", grown)).text).toContain("update_collections");
    const { json } = await writer.expect(200, "POST", "/v1/batch/objects", {
      objects: [grown, { ...grown, properties: {} }],
    });
    expect(at(json, 0, "result", "errors", "error", 0, "message")).toContain("update_collections");
    expect(at(json, 1, "result", "errors")).toBeUndefined();
    expect((await root.get("/v1/schema")).text).not.toMatch(/MineMade|grown/);
  });

  it("roles: one that one may not see is refused as one that is not there", async () => {
    const permissions = [{ action: "read_roles", roles: { role: "mine-*", scope: "match" } }];
    await root.expect(201, "POST", "/v1/authz/roles", { name: "watches-roles", permissions });
    await root.expect(200, "POST", "/v1/authz/users/none/assign", { roles: ["watches-roles"], userType: "db" });
    const none = UserClient.of(server.url, "none");
    const asked = { action: "read_data", data: { collection: "X" } };
    for (const [method, below, body] of [
      ["GET", "", undefined],
      ["GET", "/users", undefined],
      ["GET", "/user-assignments", undefined],
      ["GET", "/group-assignments", undefined],
      ["POST", "/has-permission", asked],
    ] as const) {
      const answers = await Promise.all(
        ["writer", "absent"].map(async (name) => {
          const { status, text } = await none.send(method, `/v1/authz/roles/${name}${below}`, body);
          return [status, text.replaceAll(name, "ROLE")];
        }),
      );
      expect(answers[0], below).toEqual(answers[1]);
      expect(answers[0]?.[0], below).toBe(403);
    }
    await root.expect(200, "POST", "/v1/authz/users/none/revoke", { roles: ["watches-roles"], userType: "db" });
  });

  it("roles: who may assign some does not learn from it which ones there are", async () => {
    const permissions = [{ action: "assign_and_revoke_users", users: { users: "none" } }];
    await root.expect(201, "POST", "/v1/authz/roles", { name: "assigns", permissions });
    await root.expect(200, "POST", "/v1/authz/users/none/assign", { roles: ["assigns"], userType: "db" });
    const none = UserClient.of(server.url, "none");
    const answer = async (client: UserClient, verb: string, name: string) => {
      const { status, text } = await client.send("POST", `/v1/authz/users/none/${verb}`, {
        roles: [name],
        userType: "db",
      });
      return [status, text.replaceAll(name, "ROLE")];
    };
    for (const verb of ["assign", "revoke"]) {
      const there = await answer(none, verb, "writer");
      expect(there[0]).toBe(403);
      expect(await answer(none, verb, "absent")).toEqual(there);
      expect((await answer(root, verb, "absent"))[0]).toBe(404);
    }
    await root.expect(200, "POST", "/v1/authz/users/none/revoke", { roles: ["assigns"], userType: "db" });
  });

  it("a name that no class may have is a mistake of who may do everything, and refused to others", async () => {
    const name = "A".repeat(300);
    const object = { class: name, vector: [1, 2] };
    for (const [path, body] of [
      ["/v1/schema", { class: name }],
      ["/v1/objects", object],
      ["/v1/objects/validate", { ...object, id: MINE_ID }],
    ] as const) {
      const answer = await root.send("POST", path, body);
      expect([path, answer.status], answer.text).toEqual([path, 422]);
      expect(errorOf(answer), path).toContain(name.slice(0, 16));
      expect((await writer.send("POST", path, body)).status, path).toBe(403);
    }
  });
});
