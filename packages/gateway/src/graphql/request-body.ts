import { type GraphQlAnswer, httpError } from "./answer.js";

/** The body of POST /v1/graphql. */
export interface GraphQlRequest {
  /** Not empty. */
  readonly query: string;
  /** Undefined when absent, null or empty. */
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

/** Reads a body, or says how it is refused (reference-graphql 1.1). */
export function readRequest(
  rawBody: Buffer,
): { readonly request: GraphQlRequest } | { readonly refusal: GraphQlAnswer } {
  const text = rawBody.toString("utf8");
  if (text.trim() === "" || text.trim() === "null") return { refusal: httpError(422, "body in body is required") };
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (thrown) {
    return { refusal: unreadable(thrown instanceof Error ? thrown.message : String(thrown)) };
  }
  if (!isRecord(body)) return { refusal: unreadable("it must be a JSON object") };
  const { query = null, operationName = null, variables = null } = body;
  if (query !== null && typeof query !== "string") return { refusal: unreadable("'query' must be a string") };
  if (operationName !== null && typeof operationName !== "string") {
    return { refusal: unreadable("'operationName' must be a string") };
  }
  if (query === null || query === "") return { refusal: httpError(422, "query cannot be empty") };
  if (variables !== null && !isRecord(variables)) {
    return { refusal: httpError(422, "'variables' must be a JSON object") };
  }
  return {
    request: {
      query,
      operationName: operationName === null || operationName === "" ? undefined : operationName,
      variables: variables ?? undefined,
    },
  };
}

function unreadable(reason: string): GraphQlAnswer {
  return httpError(400, `parsing body body from "" failed, because ${reason}`);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
