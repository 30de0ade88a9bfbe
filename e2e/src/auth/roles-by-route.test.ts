import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Answer, at } from "../http-client.js";
import type { ServerProcess } from "../server-process.js";
import { MINE_ID, SECRET_ID, startRolesServer, type User, UserClient } from "../testing/roles-server.js";

/** `read-only` is given by settings to groups only: here to whoever comes without a key, on a server of its own. */
const COLUMNS = ["none", "anonymous", "schemer", "reader", "writer", "viewer", "read-only", "admin", "root"] as const;
type Column = (typeof COLUMNS)[number];

/** What each user is answered on each route, about a class that his role is for, and about another one. */
const TABLE = new URL("./roles-by-route.txt", import.meta.url);

const VERBS = ["get", "head", "post", "put", "patch", "delete"];

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** What root does before, each time. */
  readonly before?: (root: UserClient) => Promise<unknown>;
}

let server: ServerProcess;
let readOnly: ServerProcess;
const jobs = new Map<string, string>();

beforeAll(async () => {
  [server, readOnly] = await Promise.all([
    startRolesServer(),
    startRolesServer({ AUTHORIZATION_RBAC_READONLY_GROUPS: "anonymous" }),
  ]);
  for (const { url } of [server, readOnly]) {
    const root = UserClient.of(url, "root");
    await root.expect(201, "POST", "/v1/authz/roles", { name: "target", permissions: [] });
    await root.expect(201, "POST", "/v1/users/db/target", {});
    for (const className of ["Mine", "Secret"]) {
      const { json } = await root.expect(201, "POST", "/v1/classifications", classification(className));
      jobs.set(`${url} ${className}`, String(at(json, "id")));
    }
  }
});
afterAll(async () => {
  await Promise.all([server, readOnly].map((one) => one?.[Symbol.asyncDispose]()));
});

function classification(className: string) {
  return {
    type: "knn",
    class: className,
    classifyProperties: ["next"],
    basedOnProperties: ["name"],
    settings: { k: 1 },
  };
}

/** One request on each operation of the server's own description. */
function requestOf(operation: string, className: "Mine" | "Secret", url: string): Asked {
  const id = className === "Mine" ? MINE_ID : SECRET_ID;
  const fresh = `${id.slice(0, -1)}f`;
  const [method = "", template = ""] = operation.split(" ");
  const beacon = `weaviate://localhost/${id}`;
  const object = { class: className, properties: { name: "x" }, vector: [1, 2] };
  const query = { query: `{ Get { ${className} { name } } }` };
  const path = template
    .replace("{id}", id)
    .replace("{property}", "next")
    .replace("{class}", className)
    .replace("{classification}", jobs.get(`${url} ${className}`) ?? "")
    .replace("{concept}", "qwertz")
    .replace("{role}", "target")
    .replace("{user}", "target")
    .replace("{group}", "target")
    .replace("{userType}", "db")
    .replace("{groupType}", "oidc");
  const gone = (root: UserClient) => root.send("DELETE", `/v1/objects/${fresh}`);
  const permissions = [{ action: "read_cluster" }];
  const special: Readonly<Record<string, Partial<Asked>>> = {
    "GET /v1/objects": { path: `/v1/objects?class=${className}` },
    "POST /v1/objects": { body: { ...object, id: fresh }, before: gone },
    "PUT /v1/objects/{id}": { body: { ...object, id } },
    "PATCH /v1/objects/{id}": { body: object },
    "DELETE /v1/objects/{id}": {},
    "POST /v1/objects/validate": { body: object },
    "POST /v1/objects/{id}/references/{property}": { body: { beacon } },
    "PUT /v1/objects/{id}/references/{property}": { body: [{ beacon }] },
    "DELETE /v1/objects/{id}/references/{property}": { body: { beacon } },
    "POST /v1/batch/objects": { body: { objects: [{ ...object, id: fresh }] } },
    "POST /v1/batch/references": { body: [{ from: `weaviate://localhost/${className}/${id}/next`, to: beacon }] },
    "POST /v1/schema": {
      body: { class: `${className}New` },
      before: (root) => root.send("DELETE", `/v1/schema/${className}New`),
    },
    "PUT /v1/schema/{class}": {
      path: `/v1/schema/${className}Changed`,
      body: { class: `${className}Changed`, description: "d" },
      before: (root) => root.send("POST", "/v1/schema", { class: `${className}Changed` }),
    },
    "DELETE /v1/schema/{class}": {
      path: `/v1/schema/${className}Gone`,
      before: (root) => root.send("POST", "/v1/schema", { class: `${className}Gone` }),
    },
    "POST /v1/schema/{class}/properties": {
      path: `/v1/schema/${className}Grown/properties`,
      body: { name: "added", dataType: ["text"] },
      before: async (root) => {
        await root.send("DELETE", `/v1/schema/${className}Grown`);
        await root.send("POST", "/v1/schema", { class: `${className}Grown` });
      },
    },
    "POST /v1/classifications": { body: classification(className) },
    "POST /v1/classification": { body: classification(className) },
    "POST /v1/graphql": { body: query },
    "POST /v1/graphql/batch": { body: [query] },
    "POST /v1/modules/text2vec-contextionary/extensions": {
      body: { concept: "shoalish", definition: "car", weight: 1 },
    },
    "POST /v1/authz/roles": {
      body: { name: "fresh", permissions: [] },
      before: (root) => root.send("DELETE", "/v1/authz/roles/fresh"),
    },
    "POST /v1/authz/roles/{role}/add-permissions": {
      body: { permissions },
    },
    "POST /v1/authz/roles/{role}/remove-permissions": { body: { permissions } },
    "POST /v1/authz/roles/{role}/has-permission": { body: permissions[0] },
    "POST /v1/authz/users/{user}/assign": { body: { roles: ["target"], userType: "db" } },
    "POST /v1/authz/users/{user}/revoke": { body: { roles: ["target"], userType: "db" } },
    "POST /v1/authz/groups/{group}/assign": { body: { roles: ["target"], groupType: "oidc" } },
    "POST /v1/authz/groups/{group}/revoke": { body: { roles: ["target"], groupType: "oidc" } },
    "POST /v1/users/db/{user}": {
      path: "/v1/users/db/fresh",
      body: {},
      before: (root) => root.send("DELETE", "/v1/users/db/fresh"),
    },
    "POST /v1/users/db/{user}/activate": { before: (root) => root.send("POST", "/v1/users/db/target/deactivate", {}) },
    "POST /v1/users/db/{user}/deactivate": { body: {} },
  };
  return { method, path, ...special[operation] };
}

/** Everything that requests are about is there, whoever has deleted it. */
async function restore(root: UserClient): Promise<void> {
  const vector = [1, 2];
  await Promise.all([
    root.send("POST", "/v1/objects", { class: "Mine", id: MINE_ID, vector }),
    root.send("POST", "/v1/objects", { class: "Secret", id: SECRET_ID, vector }),
    root.send("POST", "/v1/authz/roles", { name: "target", permissions: [] }),
    root.send("POST", "/v1/users/db/target", {}),
  ]);
  await root.send("POST", "/v1/users/db/target/activate");
}

/** The status; of what has answers of its own inside of a 200, also whether it was done. */
function outcome(operation: string, { status, json }: Answer): string {
  if (status !== 200) return String(status);
  if (operation.includes("graphql")) {
    const answer = operation.endsWith("batch") ? at(json, 0) : json;
    return at(answer, "errors") === undefined ? "200" : "200-";
  }
  if (!operation.includes("/batch/")) return "200";
  return at(json, 0, "result", "status") === "SUCCESS" || at(json, 0, "result", "errors") === undefined
    ? "200"
    : "200-";
}

async function asked(operation: string, className: "Mine" | "Secret", column: Column): Promise<string> {
  const { url } = column === "read-only" ? readOnly : server;
  const user: User = column === "read-only" ? "anonymous" : column;
  const { method, path, body, before } = requestOf(operation, className, url);
  await restore(UserClient.of(url, "root"));
  await before?.(UserClient.of(url, "root"));
  return outcome(operation, await UserClient.of(url, user).send(method, path, body));
}

it("S-roles: every route answers every role as the table says, and a new route needs a line there", async () => {
  const document = (await UserClient.of(server.url, "root").get("/v1/openapi.json")).json;
  const operations = Object.entries(at(document, "paths") as Readonly<Record<string, object>>).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((verb) => VERBS.includes(verb))
      .map((verb) => `${verb.toUpperCase()} ${path}`),
  );
  expect(operations.length).toBeGreaterThan(55);
  const lines: string[] = [];
  for (const operation of operations.filter((one) => !one.includes("/.well-known/")).sort()) {
    for (const className of ["Mine", "Secret"] as const) {
      const outcomes: string[] = [];
      for (const column of COLUMNS) outcomes.push((await asked(operation, className, column)).padEnd(9));
      lines.push(`${operation.padEnd(50)} ${className.padEnd(6)} ${outcomes.join(" ").trimEnd()}`);
    }
  }
  const head = `${"operation".padEnd(50)} class  ${COLUMNS.map((column) => column.padEnd(9))
    .join(" ")
    .trimEnd()}`;
  const found = `${[head, ...lines].join("\n")}\n`;
  // Written by hand with care, or with this and looked through: a 200 too many is somebody's data.
  if (process.env.SHOAL_WRITE_ROLES_TABLE === "1") writeFileSync(TABLE, found);
  expect(found).toBe(readFileSync(TABLE, "utf8"));
}, 300_000);
