import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, at, errorOf } from "../http-client.js";
import { ACCOUNTS, GuardedServer } from "../testing/guarded-server.js";
import { makeIssuerKey } from "../testing/oidc-issuer.js";

const VERBS = ["get", "head", "post", "put", "patch", "delete"];
/** What anybody may ask for. */
const OPEN = [
  "/v1/.well-known/live",
  "/v1/.well-known/ready",
  "/v1/.well-known/openid-configuration",
  "/v1/docs",
  "/v1/openapi.json",
];
/** What is for everybody who is known, whatever the lists say. */
const NEVER_FORBIDDEN = ["/v1", "/v1/meta", "/v1/users/own-info"];
/** Of roles, which are off here: what asks for the roles of one user or group. */
const OWN_ROLES = /^\/v1\/authz\/(users|groups)\/Thing\/roles/;
const ID = "00000000-0000-4000-8000-000000000001";

interface Operation {
  readonly method: string;
  readonly path: string;
  /** Whether it only reads, as the table of reference-rest 2.1 has it. */
  readonly reads: boolean;
  /** What counts as an empty body of any kind. */
  readonly body: null | undefined;
}

/** Every operation of the server's own description. */
async function operationsOf(guarded: GuardedServer): Promise<readonly Operation[]> {
  const { json } = await guarded.server.http.get("/v1/openapi.json");
  return Object.entries(at(json, "paths") as Readonly<Record<string, object>>).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([verb]) => VERBS.includes(verb))
      .map(([verb, operation]) => ({
        method: verb.toUpperCase(),
        path: (path.startsWith("/v1") ? path : `/v1${path === "/" ? "" : path}`).replace(/\{(\w+)\}/g, (_, name) =>
          name === "id" ? ID : "Thing",
        ),
        reads: verb === "get" || verb === "head" || path.includes("graphql") || path.endsWith("has-permission"),
        body: "requestBody" in operation ? null : undefined,
      })),
  );
}

describe.each(["spec", "weaviate"])("every operation under WIRE_PROFILE=%s", (profile) => {
  let guarded: GuardedServer;
  let operations: readonly Operation[] = [];

  beforeAll(async () => {
    guarded = await GuardedServer.start(makeIssuerKey("first"), {
      WIRE_PROFILE: profile,
      AUTHORIZATION_ADMINLIST_ENABLED: "true",
      AUTHORIZATION_ADMINLIST_USERS: ACCOUNTS.alice.email,
      AUTHORIZATION_ADMINLIST_READONLY_USERS: ACCOUNTS.rita.email,
    });
    operations = await operationsOf(guarded);
  });
  afterAll(() => guarded[Symbol.asyncDispose]());

  const ask = ({ method, path, body }: Operation, headers: Record<string, string>): Promise<Answer> =>
    guarded.server.http.send(method, path, body, headers);
  const isOpen = ({ path }: Operation): boolean => OPEN.includes(path);

  it("is behind authentication, but for what must be open", async () => {
    expect(operations.length).toBeGreaterThan(20);
    for (const operation of operations) {
      const where = `${operation.method} ${operation.path}`;
      const stranger = await ask(operation, {});
      expect(stranger.status === 401, where).toBe(!isOpen(operation));
      const forger = await ask(operation, { Authorization: "Bearer a.b.c" });
      // Where nobody is asked who he is, a bad token is not looked at either.
      expect(forger.status === 401, where).toBe(!isOpen(operation) || operation.path.endsWith("openid-configuration"));
    }
    expect(operations.filter(isOpen).length).toBeGreaterThan(2);
  });

  // covers: decisions/both/forbidden
  it("is forbidden to whom no list names, and to readers when it changes something", async () => {
    const [alice, rita, mallory] = await Promise.all([
      guarded.headersOf("alice"),
      guarded.headersOf("rita"),
      guarded.headersOf("mallory"),
    ]);
    for (const operation of operations) {
      const where = `${operation.method} ${operation.path}`;
      const isGranted = isOpen(operation) || NEVER_FORBIDDEN.includes(operation.path) || OWN_ROLES.test(operation.path);
      expect((await ask(operation, mallory)).status === 403, where).toBe(!isGranted);
      expect((await ask(operation, rita)).status === 403, where).toBe(!isGranted && !operation.reads);
      expect([401, 403], where).not.toContain((await ask(operation, alice)).status);
    }
  });

  // covers: graphql/1.1/forbidden
  it("says who is forbidden what", async () => {
    const { http } = guarded.server;
    const mallory = await guarded.headersOf("mallory");
    const rita = await guarded.headersOf("rita");
    const graphql = await http.post("/v1/graphql", { query: "{ Get { Thing { name } } }" }, mallory);
    expect([graphql.status, errorOf(graphql)]).toEqual([
      403,
      "forbidden: user 'mallory@example.com' (of groups 'g1', 'g2') has insufficient permissions to get traversal/*",
    ]);
    const created = await http.post("/v1/objects", { class: "Thing" }, rita);
    expect([created.status, errorOf(created)]).toEqual([
      403,
      "forbidden: user 'rita@example.com' has insufficient permissions to create objects",
    ]);
    expect(errorOf(await http.send("DELETE", `/v1/objects/${ID}`, undefined, rita))).toBe(
      `forbidden: user 'rita@example.com' has insufficient permissions to delete objects/${ID}`,
    );
    expect(errorOf(await http.post("/v1/objects/validate", {}, rita))).toContain("to validate objects");
    expect(errorOf(await http.post("/v1/schema", {}, rita))).toContain("to create schema/objects");
    expect(errorOf(await http.post("/v1/batch/objects", {}, rita))).toContain("to create batch/objects");
  });

  // covers: decisions/both/modules-behind-authentication
  it("of modules is no exception", async () => {
    const { http } = guarded.server;
    const path = "/v1/modules/text2vec-contextionary/concepts/qwertz";
    expect((await http.get(path)).status).toBe(401);
    expect((await http.get(path, { Authorization: "Bearer a.b.c" })).status).toBe(401);
    const known = await http.get(path, await guarded.headersOf("alice"));
    expect([known.status, known.json]).toEqual([200, { individualWords: [{ word: "qwertz" }] }]);
  });
});
