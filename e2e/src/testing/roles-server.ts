import { type Answer, at, HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

/** Users of the tests, each with a key of the settings and what is assigned to it. */
export const USERS = ["root", "admin", "viewer", "none", "reader", "writer", "schemer"] as const;
export type User = (typeof USERS)[number] | "anonymous";

export const MINE_ID = "00000000-0000-4000-8000-00000000000a";
export const SECRET_ID = "00000000-0000-4000-8000-00000000000b";

const data = (action: string, collection: string) => ({ action: `${action}_data`, data: { collection } });
const collections = (action: string, collection: string) => ({
  action: `${action}_collections`,
  collections: { collection },
});

/** Roles for the class `Mine` and those whose names begin so: to read, to write, and to change the class. */
export const ROLES = {
  reader: [data("read", "Mine*"), collections("read", "Mine*")],
  writer: [
    ...["create", "read", "update", "delete"].map((action) => data(action, "Mine*")),
    collections("read", "Mine*"),
  ],
  schemer: ["create", "read", "update", "delete"].map((action) => collections(action, "Mine*")),
};

export const keyOf = (user: string): string => `key-of-${user}-0123456789`;

export function rolesSettings(more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return {
    WIRE_PROFILE: "weaviate",
    AUTHENTICATION_APIKEY_ENABLED: "true",
    AUTHENTICATION_APIKEY_ALLOWED_KEYS: USERS.map(keyOf).join(),
    AUTHENTICATION_APIKEY_USERS: USERS.join(),
    AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true",
    AUTHENTICATION_DB_USERS_ENABLED: "true",
    AUTHORIZATION_RBAC_ENABLED: "true",
    AUTHORIZATION_RBAC_ROOT_USERS: "root",
    ...more,
  };
}

/** Requests of one user. */
export class UserClient {
  readonly #http: HttpClient;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key: string | undefined) {
    this.#http = new HttpClient(url);
    this.#headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  }

  static of(url: string, user: User): UserClient {
    return new UserClient(url, user === "anonymous" ? undefined : keyOf(user));
  }

  send(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.#http.send(method, path, body, this.#headers);
  }

  get(path: string): Promise<Answer> {
    return this.send("GET", path);
  }

  /** Fails unless the answer has that status. */
  async expect(status: number, method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.send(method, path, body);
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  async graphql(query: string): Promise<Answer> {
    return this.expect(200, "POST", "/v1/graphql", { query });
  }

  /** What is at a path of the answer's data. */
  async rows(query: string, ...path: readonly string[]): Promise<unknown> {
    return at((await this.graphql(query)).json, "data", ...path);
  }
}

const NAME = { name: "name", dataType: ["text"] };

/** Two classes with an object each, which refer to themselves and to each other, and the roles with their users. */
export async function prepareRoles(url: string): Promise<void> {
  const root = UserClient.of(url, "root");
  for (const [className, id] of [
    ["Mine", MINE_ID],
    ["Secret", SECRET_ID],
  ] as const) {
    await root.expect(200, "POST", "/v1/schema", { class: className, properties: [NAME] });
    await root.expect(200, "POST", `/v1/schema/${className}/properties`, { name: "next", dataType: [className] });
    await root.expect(200, "POST", "/v1/objects", {
      class: className,
      id,
      properties: { name: `of ${className}` },
      vector: [1, className === "Mine" ? 2 : 3],
    });
  }
  const both = { name: "other", dataType: ["Secret"] };
  await root.expect(200, "POST", "/v1/schema/Mine/properties", both);
  await root.expect(200, "POST", `/v1/objects/${MINE_ID}/references/other`, {
    beacon: `weaviate://localhost/${SECRET_ID}`,
  });
  for (const [name, permissions] of Object.entries(ROLES)) {
    await root.expect(201, "POST", "/v1/authz/roles", { name, permissions });
  }
  for (const role of ["admin", "viewer", ...Object.keys(ROLES)]) {
    await root.expect(200, "POST", `/v1/authz/users/${role}/assign`, { roles: [role], userType: "db" });
  }
}

/** A server with roles, and everybody who has one. */
export async function startRolesServer(more: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const server = await ServerProcess.start({ env: rolesSettings(more) });
  await prepareRoles(server.url);
  return server;
}
