/** One answer, its body as text and, when it is JSON, as a value. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

/** A row of a GraphQL answer, or an object of a REST answer. */
export type Row = Readonly<Record<string, unknown>>;

/** The value at a path of members and indices; undefined when there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<string | number, unknown>)[key] : undefined,
    value,
  );
}

/** The message of an error body, which has exactly one. */
export function errorOf(answer: Answer): unknown {
  const errors = at(answer.json, "error");
  if (!Array.isArray(errors) || errors.length !== 1) return `no error body: ${answer.status} ${answer.text}`;
  return at(errors, 0, "message");
}

/** The messages of a GraphQL answer's errors. */
export function graphqlErrors(answer: Answer): readonly unknown[] {
  const errors = at(answer.json, "errors");
  return Array.isArray(errors) ? errors.map((one) => at(one, "message")) : [];
}

/** Requests to one server. A body that is a string or bytes goes out as it is, everything else as JSON. */
export class HttpClient {
  constructor(readonly base: string) {}

  /** A header of value null is not sent, also where it would be by default. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string | null>> = {},
  ): Promise<Answer> {
    const raw = typeof body === "string" || body instanceof Uint8Array;
    const wanted = body === undefined ? headers : { "Content-Type": "application/json", ...headers };
    const answer = await fetch(this.base + path, {
      method,
      // As bytes: a text would bring a Content-Type of its own.
      ...(body === undefined ? {} : { body: Buffer.from(raw ? (body as string | Uint8Array) : JSON.stringify(body)) }),
      headers: Object.entries(wanted).filter((one): one is [string, string] => one[1] !== null),
      redirect: "manual",
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: parse(text) };
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.send("GET", path, undefined, headers);
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.send("POST", path, body, headers);
  }

  put(path: string, body?: unknown): Promise<Answer> {
    return this.send("PUT", path, body);
  }

  patch(path: string, body?: unknown): Promise<Answer> {
    return this.send("PATCH", path, body);
  }

  delete(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.send("DELETE", path, undefined, headers);
  }

  graphql(query: string, variables?: Readonly<Record<string, unknown>>, operationName?: string): Promise<Answer> {
    return this.post("/v1/graphql", {
      query,
      ...(variables === undefined ? {} : { variables }),
      ...(operationName === undefined ? {} : { operationName }),
    });
  }

  /** The rows of `Get { Class… }`; fails when the answer has errors. */
  async rows(className: string, query: string): Promise<readonly Row[]> {
    const answer = await this.graphql(query);
    const rows = at(answer.json, "data", "Get", className);
    if (!Array.isArray(rows)) throw new Error(`${answer.status} ${answer.text}`);
    return rows as readonly Row[];
  }
}

function parse(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
