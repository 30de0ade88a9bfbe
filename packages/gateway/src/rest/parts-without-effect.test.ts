import { WEAVIATE_PROFILE } from "@shoal/model";
import { type Logger, silentLogger } from "@shoal/service-runtime";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";
import { describedOperations } from "./openapi/openapi-route.js";
import type { Operation } from "./openapi/operation.js";

const logged: { readonly fields: object; readonly message: string }[] = [];
const logger: Logger = { ...silentLogger, warn: (fields, message) => void logged.push({ fields, message }) };

let server: FakeGateway;
beforeAll(async () => {
  server = await serveFakes({}, WEAVIATE_PROFILE, undefined, logger);
  server.services.addClassNamed("Article", [{ name: "title", dataType: ["text"] }]);
});
afterAll(() => server.gateway.stop());
beforeEach(() => {
  logged.length = 0;
  // Of one kind only so many lines a minute are written.
  server.services.now += 60_000;
});

const ID = "36ddd591-2dee-4e7e-a3cc-eb86d30a4303";
const operations = describedOperations(WEAVIATE_PROFILE);
const byName = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

function pathOf({ path }: Operation): string {
  return path
    .replace(/\{id(:uuid)?\}/, ID)
    .replace("{class}", "Article")
    .replace("{userType}", "db")
    .replace("{groupType}", "oidc")
    .replaceAll(/\{\w+\}/g, "x");
}

function exampleOf({ body }: Operation): unknown {
  return structuredClone(Object.values(body?.examples ?? {})[0]);
}

const UNKNOWN_PARAMETER = `299 - "query parameter 'colour' is unknown and was ignored"`;

describe.each(byName)("U1: %s", (name, operation) => {
  const send = (query: string, body?: unknown) => server.send(operation.method, pathOf(operation) + query, body);

  it("warns of a query parameter that it does not have", async () => {
    const body = operation.body === undefined ? undefined : exampleOf(operation);
    for (const query of ["?colour=blue", "?c%6Flour=blue", "?access_token=&colour&", "?colour=&colour=1"]) {
      const { headers } = await send(query, body);
      expect(headers.get("warning"), query).toBe(UNKNOWN_PARAMETER);
    }
    const route = server.gateway.routes.find((one) => `${one.method} ${one.path}` === name);
    // Of what strangers may ask nothing is written down.
    expect(logged).toHaveLength(route?.access === "open" ? 0 : 4);
  });

  it("says nothing of those that it has", async () => {
    for (const parameter of Object.keys(operation.query?.shape ?? {})) {
      expect((await send(`?${parameter}=x`)).headers.get("warning"), parameter).toBeUndefined();
    }
    const { headers } = await send("", exampleOf(operation));
    expect(headers.get("warning")).toBeUndefined();
    expect(logged).toEqual([]);
  });
});

const withBody = byName.filter(([, { body }]) => body !== undefined);

describe.each(withBody)("U1: the body of %s", (_, operation) => {
  const send = (text: string) => server.send(operation.method, pathOf(operation), text);

  it("warns of members that it does not have, or refuses them", async () => {
    const places = placesIn(exampleOf(operation));
    expect(places).not.toEqual([]);
    for (const { add, shown } of places) {
      // Long bodies are read in another way; those of classifications are short.
      for (const padding of operation.tag === "classifications" ? [""] : ["", " ".repeat(300 * 1024)]) {
        const body = exampleOf(operation);
        add(body);
        const { status, headers, body: text } = await send(padding + JSON.stringify(body));
        // What a right is about is refused rather than ignored; here there are none.
        if (operation.tag === "access") expect(status, text).toBe(501);
        else expect(headers.get("warning"), text).toBe(`299 - "'${shown}' is unknown and was ignored"`);
      }
    }
  });

  it("says nothing of members that it has", async () => {
    const schema = operation.body?.schema;
    for (const member of Object.keys(schema instanceof z.ZodObject ? schema.shape : {})) {
      const { headers } = await send(JSON.stringify({ [member]: null, [member.toUpperCase()]: null }));
      expect(headers.get("warning"), member).toBeUndefined();
    }
  });
});

interface Place {
  /** Adds a member there. */
  readonly add: (body: unknown) => void;
  readonly shown: string;
}

/** Where in an example members may be added: in itself, in its items, and in the items of its lists. */
function placesIn(example: unknown): readonly Place[] {
  const put = (value: unknown): void => void Object.assign(value as object, { colour: 1 });
  if (typeof example !== "object" || example === null) return [];
  if (Array.isArray(example)) {
    // Each query of a batch is read by itself.
    const isQueries = "query" in (example[0] ?? {});
    return [{ add: (body) => put((body as unknown[])[0]), shown: isQueries ? "colour" : "[].colour" }];
  }
  const lists = Object.entries(example).filter(([name, member]) => Array.isArray(member) && hasNames(name, member));
  return [
    { add: put, shown: "colour" },
    ...lists.map(([name]) => ({
      add: (body: unknown) => put((body as Record<string, unknown[]>)[name]?.[0]),
      // Properties have names.
      shown: name === "properties" ? `${name}.title.colour` : `${name}[].colour`,
    })),
  ];
}

function hasNames(name: string, [first]: readonly unknown[]): boolean {
  return typeof first === "object" && first !== null && name !== "permissions";
}

describe("U1: what is told", () => {
  it("one line with what, who and where, and one header a warning", async () => {
    const body = { class: "Article", vectr: [1], proprties: {}, vector: [1] };
    const { status, headers } = await server.send("POST", "/v1/objects?verbos=1", body, { "X-Request-Id": "r7" });
    expect(status).toBe(200);
    expect(headers.get("warning")).toContain("did you mean 'properties'?");
    expect(logged).toEqual([
      {
        message: "a request has parts without effect",
        fields: {
          requestId: "r7",
          operation: "POST /v1/objects",
          username: "anonymous",
          warnings: [
            "query parameter 'verbos' is unknown and was ignored",
            "'vectr' is unknown and was ignored, did you mean 'vector'?",
            "'proprties' is unknown and was ignored, did you mean 'properties'?",
          ],
          others: 0,
        },
      },
    ]);
  });

  it("the items of a batch have their names told once", async () => {
    const objects = Array.from({ length: 500 }, (_, at) => ({
      class: "Article",
      vector: [1],
      vectro: at,
      [`x${at}`]: 1,
    }));
    await server.send("POST", "/v1/batch/objects", { objects });
    expect(logged).toMatchObject([{ fields: { others: 493 } }]);
    expect(JSON.stringify(logged)).toContain("'objects[].vectro' is unknown and was ignored, did you mean 'vector'?");
  });

  it("thousands of parameters are not each a reason to read the whole query", async () => {
    const times = (count: number, pair: (at: number) => string) => Array.from({ length: count }, (_, at) => pair(at));
    const queries = [
      times(3_500, () => "a=1"),
      times(2_000, (at) => `a${at}=1`),
      times(2_500, () => "%41="),
      times(1_500, () => "tenant="),
      times(1_500, (at) => (at % 2 === 0 ? "tenant=" : "node_name=")),
      times(600, () => "consistency_level=ONE"),
    ].map((pairs) => pairs.join("&"));
    const before = performance.now();
    for (let round = 0; round < 5; round++) {
      for (const query of queries) expect((await server.send("GET", `/v1/objects?${query}`)).status).toBe(200);
    }
    // It was a quarter to half a second for each.
    expect(performance.now() - before).toBeLessThan(3_000);
  });

  it("a refusal has its warnings, too", async () => {
    const { status, headers } = await server.send("POST", "/v1/objects", { clas: "Article", vector: "x" });
    expect(status).toBe(400);
    expect(headers.get("warning")).toContain("did you mean 'class'?");
  });

  it("what published clients send by default is no reason for a warning", async () => {
    const times = { creationTimeUnix: 1, lastUpdateTimeUnix: 2 };
    const object = {
      id: ID,
      class: "Article",
      properties: {},
      vector: [1],
      vectorWeights: {},
      additional: {},
      ...times,
    };
    const beacon = `weaviate://localhost/${ID}`;
    const responses = await Promise.all([
      server.send("POST", "/v1/objects", object),
      server.send("POST", "/v1/objects?consistency_level=ALL", { ...object, tenant: null, vectors: {} }),
      server.send("PUT", `/v1/objects/${ID}?consistency_level=QUORUM`, object),
      server.send("POST", "/v1/batch/objects?consistency_level=ONE", { fields: ["ALL"], objects: [object] }),
      server.send("PUT", `/v1/objects/${ID}/references/of`, [
        { beacon, href: `/v1/objects/${ID}`, classification: {} },
      ]),
      server.send("POST", "/v1/batch/references", [{ from: "/a", to: beacon, tenant: "" }]),
      server.send("GET", "/v1/objects?class=Article&limit=1&offset=0&include=&tenant="),
      server.send("GET", `/v1/objects/${ID}?include=vector,classification`),
      server.send("GET", "/v1/nodes?output=minimal"),
      server.send("POST", "/v1/graphql", { query: "{ a }", variables: {}, operationName: null, extensions: {} }),
    ]);
    expect(responses.map(({ headers }) => headers.get("warning"))).toEqual(responses.map(() => undefined));
    // The fake has nothing that GraphQL could ask for.
    expect(responses.slice(0, -1).map(({ status }) => status)).not.toContain(422);
  });
});
