import { describeValue, isUncheckedObject, type RequestWarnings, ShoalError } from "@shoal/model";
import { parseJson } from "../../json/parse-json.js";
import { wrongBody, wrongMember } from "../../json/wrong-member.js";
import { type GraphQlResponse, httpError } from "../graphql-response.js";

/** The body of POST /v1/graphql. */
export interface GraphQlRequest {
  /** Not empty. */
  readonly query: string;
  /** Undefined when absent, null or empty. */
  readonly operationName: string | undefined;
  /** Integers that a plain number cannot hold are JsonNumber. */
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads a body, or says how it is refused (reference-graphql 1.1); unknown members go to `warnings`. It is decoded as every other body is (reference-rest
 * 1.3, 1.4): members in any case, nothing behind the first value, null for absent.
 */
export function readRequest(
  rawBody: Buffer,
  warnings?: RequestWarnings,
): { readonly request: GraphQlRequest } | { readonly refusal: GraphQlResponse } {
  try {
    return { request: requestOf(rawBody, warnings) };
  } catch (thrown) {
    if (!(thrown instanceof ShoalError)) throw thrown;
    return { refusal: httpError(statusOf(thrown), thrown.message) };
  }
}

/** A body whose members have their JSON types. Fails with `malformed`, and with `invalid` when there is none. */
export function decodeRequest(rawBody: Buffer, warnings?: RequestWarnings) {
  const { query, operationname: operationName, variables } = membersOf(parseJson(rawBody, "integers"), warnings);
  if (query !== undefined && typeof query !== "string") throw wrongMember(query, "query", "a string");
  if (operationName !== undefined && typeof operationName !== "string") {
    throw wrongMember(operationName, "operationName", "a string");
  }
  return { query, operationName, variables };
}

const QUERY = 'an object with a query, {"query": "{ … }"}';

function statusOf({ code }: ShoalError): 400 | 413 | 422 {
  if (code === "malformed") return 400;
  return code === "tooLarge" ? 413 : 422;
}

/** Parsed in one go, which takes up to 15 ms a megabyte. The text of a query has at most 2 million characters. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

function requestOf(rawBody: Buffer, warnings?: RequestWarnings): GraphQlRequest {
  if (rawBody.length > BODY_BYTES_MAX) {
    const message = `the request body has ${rawBody.length} bytes, at most ${BODY_BYTES_MAX} are allowed for a query`;
    throw new ShoalError("tooLarge", message);
  }
  const { query, operationName, variables } = decodeRequest(rawBody, warnings);
  if (query === undefined || query === "") throw new ShoalError("invalid", "query cannot be empty");
  if (variables !== undefined && !isUncheckedObject(variables)) {
    throw new ShoalError("invalid", `member 'variables' must be an object, got ${describeValue(variables)}`);
  }
  const hasVariables = variables !== undefined && Object.keys(variables).length > 0;
  return {
    query,
    operationName: operationName === "" ? undefined : operationName,
    variables: hasVariables ? variables : undefined,
  };
}

/** Clients of GraphQL over HTTP send it to servers that may know what is in it, and expect nothing of it. */
const EXTENSIONS = "extensions";
const knownMembers = (): readonly string[] => ["query", "operationName", "variables"];

type Members = { [Name in "query" | "operationname" | "variables"]: unknown };

/** The members under their names in lower case; of repeated ones the last counts. */
function membersOf(body: unknown, warnings?: RequestWarnings): Members {
  const members: Members = { query: undefined, operationname: undefined, variables: undefined };
  if (body === null) return members;
  if (!isUncheckedObject(body)) throw wrongBody(body, QUERY);
  for (const key of Object.keys(body)) {
    const name = key.toLowerCase();
    if (name === "query" || name === "operationname" || name === "variables") members[name] = body[key] ?? undefined;
    else if (name !== EXTENSIONS) warnings?.addUnknown("", key, knownMembers);
  }
  return members;
}
