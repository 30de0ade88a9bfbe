import { STATUS_CODES } from "node:http";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { Route } from "../../http/route.js";
import { ERROR_BODY } from "./object-schemas.js";
import { type DescribedBody, type DescribedResponse, type Operation, TAGS } from "./operation.js";
import { PATH_PARAMETERS } from "./parameters.js";

export interface DocumentParts {
  /** Of the interface. */
  readonly version: string;
  /** Of this server. */
  readonly shoalVersion: string;
  /** Where the API is, as clients see it; empty for where the document came from. */
  readonly origin: string;
  /** Whether requests without a token are served. */
  readonly anonymousAccess: boolean;
  /** Where the issuer's discovery document is; undefined when OpenID Connect is off. */
  readonly openIdConnectUrl: string | undefined;
  readonly takesApiKeys: boolean;
}

type JsonSchema = Readonly<Record<string, unknown>>;

const INTRODUCTION = `A sharded vector database.

Names of members in bodies are found in any case, and null counts as absent. Members and query parameters that are not known are ignored,
with a header \`Warning: 299\` for each of the first eight; those that today's Weaviate has and this server has not (\`tenant\`, \`node_name\`) are
refused with 422. Where data is concerned, each operation takes the query parameter \`consistency_level\`: with
\`QUORUM\` and \`ALL\` the primary of a shard answers reads, with \`ONE\`, or none, any copy that is in sync. Writes are the same with each.
Every error has the same body, except where none is described. Beside the answers that each operation lists, any request can get 404 (no such path),
405 (no such method there, see \`Allow\`), 408 (it was not sent in time), 417 (an expectation that cannot be met) and
431 (its headers are too large).`;

/** Whether an operation describes a route. */
export function isOf(operation: Operation, route: Route): boolean {
  return route.method === operation.method && route.path === operation.path;
}

/** The OpenAPI 3.1 document of these routes. */
export function openApiDocument(routes: readonly Route[], operations: readonly Operation[], parts: DocumentParts) {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const route = routes.find((one) => isOf(operation, one));
    if (route === undefined) continue;
    const path = operation.path.replaceAll(/\{(\w+):\w+\}/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: documented(operation, route, parts, schemas) };
  }
  const error = schemas.of(ERROR_BODY);
  return {
    openapi: "3.1.0",
    info: {
      title: "Shoal",
      version: parts.version,
      description: `${INTRODUCTION}\n\nShoal ${parts.shoalVersion}.`,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: parts.origin === "" ? "/" : parts.origin }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas.named,
      responses: {
        Error: { description: "What is wrong.", content: { "application/json": { schema: error } } },
      },
      securitySchemes: securitySchemes(parts),
    },
  };
}

function securitySchemes({ openIdConnectUrl, takesApiKeys }: DocumentParts) {
  const form = takesApiKeys ? { description: "An API key, or a token of the issuer." } : { bearerFormat: "JWT" };
  const bearer = { type: "http", scheme: "bearer", ...form };
  return openIdConnectUrl === undefined ? { bearer } : { bearer, oidc: { type: "openIdConnect", openIdConnectUrl } };
}

function documented(operation: Operation, route: Route, parts: DocumentParts, schemas: Schemas) {
  const { id, tag, summary, description, body } = operation;
  const parameters = [...pathParameters(operation, schemas), ...queryParameters(operation, schemas)];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, schemas) }),
    responses: responses(operation, route, schemas),
    security: security(route, parts),
  };
}

/** Alternatives: a token, or none where anonymous access is on. */
function security(route: Route, { anonymousAccess, openIdConnectUrl }: DocumentParts) {
  if (route.access === "open") return [];
  const tokens = [{ bearer: [] }, ...(openIdConnectUrl === undefined ? [] : [{ oidc: [] }])];
  return anonymousAccess || route.access === "anyone" ? [{}, ...tokens] : tokens;
}

function pathParameters({ path }: Operation, schemas: Schemas) {
  return [...path.matchAll(/\{(\w+)(?::\w+)?\}/g)].map(([, name = ""]) => {
    const parameter = PATH_PARAMETERS.get(name);
    if (parameter === undefined) throw new Error(`the path parameter {${name}} is not in openapi/parameters.ts`);
    return {
      name,
      in: "path",
      required: true,
      description: parameter.description,
      schema: schemas.of(parameter.schema),
    };
  });
}

function queryParameters({ query }: Operation, schemas: Schemas) {
  return Object.entries(query?.shape ?? {}).map(([name, member]) => {
    const { description, ...schema } = schemas.of(member);
    return { name, in: "query", ...(description === undefined ? {} : { description }), schema };
  });
}

function requestBody({ schema, examples }: DescribedBody, schemas: Schemas) {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return {
    required: true,
    content: { "application/json": { schema: schemas.of(schema), examples: Object.fromEntries(named) } },
  };
}

function responses({ method, responses: results }: Operation, route: Route, schemas: Schemas) {
  const all = new Map<number, DescribedResponse>();
  for (const [status, description] of commonResponses(route)) all.set(status, { description });
  for (const [status, response] of Object.entries(results)) all.set(Number(status), response);
  const inOrder = [...all].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    inOrder.map(([status, result]) => [status, response(status, result, method === "HEAD", schemas)]),
  );
}

/**
 * The responses to requests that do not get as far as the operation, by status: they follow from the route. What is wrong
 * with any request, whatever it asks for (404 and 405 of paths, 408, 417, 431), stands in the document's introduction.
 */
function commonResponses(route: Route): ReadonlyMap<number, string> {
  const responses = new Map<number, string>();
  if (route.body === "json") {
    responses.set(400, "The body is no JSON, or has a member of the wrong type.");
    responses.set(413, "The body, the batch or the object is larger than its limit.");
    responses.set(422, "The body is missing.");
  }
  if (route.path.includes("{")) responses.set(400, responses.get(400) ?? "The path has a malformed percent-encoding.");
  if (route.access !== "open") {
    responses.set(401, "The token is not valid, or there is none and anonymous access is off.");
    if (typeof route.access !== "string") responses.set(403, "The user may not do this.");
  }
  if (route.body === "unchecked") return responses;
  responses.set(406, "The client does not take JSON.");
  responses.set(415, "The body is not announced as JSON, or packed in another way than by gzip.");
  responses.set(429, "The server has too much to do; `Retry-After` says when to try again.");
  responses.set(500, "A fault of the server, or stored data that is damaged.");
  responses.set(503, "A part that is needed cannot be reached; `Retry-After` says when to try again.");
  responses.set(504, `The time-out has passed (\`${timeoutSetting(route)}\`).`);
  return responses;
}

function timeoutSetting(route: Route): string {
  return route.timeout === "batch" ? "BATCH_TIMEOUT_SECONDS" : "REQUEST_TIMEOUT_SECONDS";
}

function response(status: number, result: DescribedResponse, isHead: boolean, schemas: Schemas) {
  const description = result.description || STATUS_CODES[status] || String(status);
  const schema = result.schema ?? (status >= 400 && result.isEmpty !== true ? ERROR_BODY : undefined);
  if (schema === undefined || isHead) return { description };
  const example = result.example === undefined ? {} : { example: result.example };
  return {
    description,
    content: { [result.contentType ?? "application/json"]: { schema: schemas.of(schema), ...example } },
  };
}

/** JSON Schemas made from those of zod; those that have an id are collected, and referred to. */
class Schemas {
  readonly named: Record<string, JsonSchema> = {};
  /** Converting one takes up to a millisecond, and that of errors stands in every operation several times. */
  readonly #converted = new Map<z.ZodType, JsonSchema>();

  of(schema: z.ZodType): JsonSchema {
    const known = this.#converted.get(schema);
    if (known !== undefined) return known;
    const converted = this.#convert(schema);
    this.#converted.set(schema, converted);
    return converted;
  }

  #convert(schema: z.ZodType): JsonSchema {
    const { $schema, $defs = {}, ...made } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    for (const [name, definition] of Object.entries($defs)) {
      const { id, ...plain } = referring(definition) as JsonSchema;
      if (this.named[name] !== undefined && !isDeepStrictEqual(this.named[name], plain)) {
        throw new Error(`two schemas have the id ${name}`);
      }
      this.named[name] = plain;
    }
    const { id, ...plain } = referring(made) as JsonSchema;
    if (typeof id !== "string" || plain.$ref !== undefined) return plain;
    this.named[id] = plain;
    return { $ref: `#/components/schemas/${id}` };
  }
}

/** The same with references to the document's components, and without what says nothing. */
function referring(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referring);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => {
    const isReference = key === "$ref" && typeof member === "string";
    return [key, isReference ? member.replace("#/$defs/", "#/components/schemas/") : referring(member)];
  });
  return Object.fromEntries(
    entries.filter(([key, member]) => key !== "propertyNames" && !(typeof member === "number" && isSafeBound(member))),
  );
}

/** The bounds of every integer in JavaScript. */
function isSafeBound(value: number): boolean {
  return value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER;
}
