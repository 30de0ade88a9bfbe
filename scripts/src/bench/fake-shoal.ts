import { createServer, type IncomingMessage, type Server } from "node:http";

interface FakeObject {
  readonly class: string;
  readonly id: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly vector: readonly number[];
}

type Classes = Map<string, Map<string, FakeObject>>;
type Answer = readonly [status: number, body?: unknown];

/**
 * A fake of the server to try the benchmarks on: objects in a `Map`, nearVector by brute force over what a
 * regular expression finds in the query.
 */
export function fakeShoal(): Server {
  const classes: Classes = new Map();
  return createServer(async (request, response) => {
    const [status, body] = respond(classes, request, await readBody(request));
    response.statusCode = status;
    if (body !== undefined) response.setHeader("content-type", "application/json");
    response.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function respond(classes: Classes, request: IncomingMessage, body: string): Answer {
  const url = new URL(request.url ?? "/", "http://fake");
  const id = /^\/v1\/objects\/([0-9a-f-]{36})$/.exec(url.pathname)?.[1];
  if (id !== undefined) return oneObject(classes, request.method ?? "", id, body);
  switch (`${request.method} ${url.pathname.replace(/^\/v1\/schema\/\w+$/, "/v1/schema/*")}`) {
    case "POST /v1/schema":
      return createClass(classes, (JSON.parse(body) as FakeObject).class);
    case "DELETE /v1/schema/*":
      return [classes.delete(url.pathname.slice("/v1/schema/".length)) ? 200 : 404];
    case "POST /v1/batch/objects": {
      const { objects } = JSON.parse(body) as { objects: readonly FakeObject[] };
      return [200, objects.map((object) => ({ ...put(classes, object), result: {} }))];
    }
    case "POST /v1/objects":
      return [200, put(classes, JSON.parse(body) as FakeObject)];
    case "GET /v1/objects": {
      const offset = Number(url.searchParams.get("offset") ?? 0);
      const objects = [...classes.values()].flatMap((held) => [...held.values()]);
      return [200, { objects: objects.slice(offset, offset + Number(url.searchParams.get("limit") ?? 25)) }];
    }
    case "POST /v1/graphql":
      return [200, graphql(classes, (JSON.parse(body) as { query: string }).query)];
    default:
      return [404];
  }
}

function createClass(classes: Classes, name: string): Answer {
  if (classes.has(name)) return [422, { error: [{ message: `class ${name} exists` }] }];
  classes.set(name, new Map());
  return [200, {}];
}

function put(classes: Classes, object: FakeObject): FakeObject {
  classes.get(object.class)?.set(object.id, object);
  return object;
}

function oneObject(classes: Classes, method: string, id: string, body: string): Answer {
  const holder = [...classes.values()].find((objects) => objects.has(id));
  const stored = holder?.get(id);
  if (holder === undefined || stored === undefined) return [404];
  if (method === "GET") return [200, stored];
  if (method === "DELETE") {
    holder.delete(id);
    return [204];
  }
  const { properties, vector = stored.vector } = JSON.parse(body) as Partial<FakeObject>;
  const merged = method === "PATCH" ? { ...stored.properties, ...properties } : { ...properties };
  holder.set(id, { ...stored, properties: merged, vector });
  return [204];
}

function graphql(classes: Classes, query: string): unknown {
  const name = /Get \{ (\w+)\(/.exec(query)?.[1] ?? "";
  const limit = Number(/limit: (\d+)/.exec(query)?.[1] ?? 100);
  const vector = /vector: (\[[^\]]*\])/.exec(query)?.[1];
  const objects = [...(classes.get(name)?.values() ?? [])];
  const certainty = certaintyTo(vector === undefined ? [] : (JSON.parse(vector) as number[]));
  const hits = objects.map((object) => ({ object, certainty: certainty(object.vector) }));
  if (vector !== undefined) hits.sort((a, b) => b.certainty - a.certainty);
  const rows = hits.slice(0, limit).map((hit) => ({
    ...hit.object.properties,
    _additional: { id: hit.object.id, certainty: hit.certainty },
  }));
  return { data: { Get: { [name]: rows } }, errors: null };
}

function certaintyTo(query: readonly number[]): (vector: readonly number[]) => number {
  const length = Math.hypot(...query);
  return (vector) => {
    let dot = 0;
    let squares = 0;
    for (const [at, value] of vector.entries()) {
      dot += value * (query[at] ?? 0);
      squares += value * value;
    }
    return (1 + dot / (length * Math.sqrt(squares))) / 2;
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
