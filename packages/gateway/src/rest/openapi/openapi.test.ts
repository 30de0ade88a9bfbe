import { Validator } from "@seriousme/openapi-schema-validator";
import { SPEC_PROFILE, WEAVIATE_PROFILE, type WireProfile } from "@shoal/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GatewaySettings } from "../../create-gateway.js";
import { type FakeGateway, serveFakes } from "../../testing/serve-fakes.js";
import { describedOperations } from "./openapi-route.js";

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: {
    readonly content: Record<string, { readonly examples: Record<string, { value: unknown }> }>;
  };
  readonly responses: Record<string, { readonly description: string; readonly content?: Record<string, object> }>;
}

interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { readonly schemas: Record<string, object>; readonly securitySchemes: Record<string, object> };
}

const OIDC = {
  issuer: "https://issuer.example/",
  clientId: "db",
  skipClientIdCheck: false,
  usernameClaim: "sub",
  groupsClaim: undefined,
  scopes: [],
  keysUrl: undefined,
};

async function served(settings: Partial<GatewaySettings> = {}, profile?: WireProfile): Promise<Document> {
  const { gateway, send } = await serveFakes(settings, profile);
  const { status, body, headers } = await send("GET", "/v1/openapi.json", undefined, { Accept: "text/html" });
  await gateway.stop();
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("cache-control")).toBe("public, max-age=300");
  return JSON.parse(body) as Document;
}

/** Have no body at a 404 where the profile has none. */
const EMPTY_404 = new Set([
  "GET /v1/objects/{id}",
  "DELETE /v1/objects/{id}",
  "GET /v1/{id}",
  "GET /v1/schema/{class}",
  "PUT /v1/schema/{class}",
  "GET /v1/classifications/{classification}",
  "GET /v1/classification/{classification}",
  "GET /v1/.well-known/openid-configuration",
]);

const operationsOf = (document: Document): readonly (readonly [string, Described])[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, one]) => [`${verb.toUpperCase()} ${path}`, one] as const),
  );

let server: FakeGateway;
beforeAll(async () => {
  server = await serveFakes();
});
afterAll(() => server.gateway.stop());

describe.each([
  ["spec", SPEC_PROFILE],
  ["weaviate", WEAVIATE_PROFILE],
] as const)("the OpenAPI document under the wire profile %s", (_, profile) => {
  it("has every route, and nothing that is no route", async () => {
    const named = (all: readonly { readonly method: string; readonly path: string }[]) =>
      all.map(({ method, path }) => `${method} ${path}`).sort();
    const described = named(describedOperations(profile));
    expect(described, "each route needs an operation in rest/openapi/*-operations.ts").toEqual(
      named(server.gateway.routes),
    );
    const routes = server.gateway.routes.map(({ method, path }) => `${method} ${path.replace(":uuid", "")}`);
    const document = await served({}, profile);
    expect(
      operationsOf(document)
        .map(([name]) => name)
        .sort(),
    ).toEqual(routes.sort());
  });

  it("is valid OpenAPI 3.1, with OpenID Connect and without", async () => {
    for (const authentication of [
      { anonymousAccess: true, apiKeys: undefined, oidc: undefined },
      { anonymousAccess: false, apiKeys: undefined, oidc: OIDC },
    ]) {
      const document = await served({ authentication }, profile);
      expect(document.openapi).toBe("3.1.0");
      const { valid, errors } = await new Validator().validate(document as object as Record<string, unknown>);
      expect(valid, JSON.stringify(errors, null, 1)).toBe(true);
      const broken = { ...document, paths: { "/v1": { get: { responses: { 200: {} } } } } };
      expect((await new Validator().validate(broken)).valid).toBe(false);
    }
  });

  it("says something of every operation, and names each once", async () => {
    const operations = operationsOf(await served({}, profile));
    expect(new Set(operations.map(([, { operationId }]) => operationId)).size).toBe(operations.length);
    for (const [name, { summary, responses }] of operations) {
      expect(summary, name).not.toBe("");
      expect(
        Object.keys(responses).some((status) => /^[23]/.test(status)),
        name,
      ).toBe(true);
      for (const [status, { content }] of Object.entries(responses)) {
        if (Number(status) < 400 || name.startsWith("HEAD")) continue;
        if (status === "404" && EMPTY_404.has(name) && !profile.notFoundHasBody) {
          expect(content, `${name} 404 (F16)`).toBeUndefined();
          continue;
        }
        expect(content, `${name} ${status}`).toEqual({
          "application/json": { schema: { $ref: "#/components/schemas/Error" } },
        });
      }
    }
  });

  it("has examples that its own schemas allow", () => {
    for (const { id, body, responses } of describedOperations(profile)) {
      if (body !== undefined) expect(Object.keys(body.examples), id).not.toEqual([]);
      for (const example of Object.values(body?.examples ?? {})) body?.schema.parse(example);
      for (const { schema, example } of Object.values(responses)) if (example !== undefined) schema?.parse(example);
    }
  });

  it("refers only to what it holds", async () => {
    const document = await served({}, profile);
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name = ""]) => name);
    expect([...text.matchAll(/"\$ref":"([^"]*)"/g)].length).toBeGreaterThanOrEqual(references.length);
    expect(references.filter((name) => document.components.schemas[name] === undefined)).toEqual([]);
    expect(text).not.toContain("$defs");
  });
});

describe("what depends on settings", () => {
  it("the wire profile decides how a replaced object is answered", async () => {
    const statuses = async (profile: WireProfile) =>
      Object.keys((await served({}, profile)).paths["/v1/objects/{id}"]?.put?.responses ?? {});
    expect(await statuses(SPEC_PROFILE)).toContain("204");
    expect(await statuses(SPEC_PROFILE)).not.toContain("200");
    expect(await statuses(WEAVIATE_PROFILE)).toContain("200");
    expect(await statuses(WEAVIATE_PROFILE)).not.toContain("204");
  });

  it("the server is ORIGIN, or where the document came from", async () => {
    expect((await served()).servers).toEqual([{ url: "/" }]);
    expect((await served({ origin: "https://db.example" })).servers).toEqual([{ url: "https://db.example" }]);
  });

  it("a token is needed where anonymous access is off, and never where a route is open", async () => {
    const open = await served({ authentication: { anonymousAccess: true, apiKeys: undefined, oidc: undefined } });
    expect(open.components.securitySchemes).toEqual({
      bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    });
    expect(open.paths["/v1/objects"]?.get?.security).toEqual([{}, { bearer: [] }]);
    const closed = await served({ authentication: { anonymousAccess: false, apiKeys: undefined, oidc: OIDC } });
    expect(closed.paths["/v1/objects"]?.get?.security).toEqual([{ bearer: [] }, { oidc: [] }]);
    expect(closed.paths["/v1/.well-known/live"]?.get?.security).toEqual([]);
    expect(closed.components.securitySchemes.oidc).toEqual({
      type: "openIdConnect",
      openIdConnectUrl: "https://issuer.example/.well-known/openid-configuration",
    });
  });
});
