import { type ExactJson, isList, member, numberOf, parseExact } from "../json/exact-json.js";
import { formatJson } from "../json/format-json.js";

export interface GraphQlError {
  readonly message: string;
  /** Names and indices, e.g. `Get › Word › 0`. */
  readonly path: string | undefined;
  readonly place: { readonly line: number; readonly column: number } | undefined;
}

export interface GraphQlResponse {
  /** For people. */
  readonly text: string;
  readonly errors: readonly GraphQlError[];
}

/** Longer answers are shown as they came: laying them out would hold the page up. */
const FORMATTED_CHARS_MAX = 8_000_000;

export function readGraphQlResponse(body: string): GraphQlResponse {
  if (body.length > FORMATTED_CHARS_MAX) return { text: body, errors: [] };
  let response: ExactJson;
  try {
    response = parseExact(body);
  } catch {
    return { text: body, errors: [{ message: "the answer is no JSON", path: undefined, place: undefined }] };
  }
  const errors = member(response, "errors");
  return { text: formatJson(response), errors: isList(errors) ? errors.map(readError) : [] };
}

function readError(error: ExactJson): GraphQlError {
  const message = member(error, "message");
  const path = member(error, "path");
  const locations = member(error, "locations");
  const first = isList(locations) ? locations[0] : undefined;
  const [line, column] = [numberOf(member(first, "line")), numberOf(member(first, "column"))];
  return {
    message: typeof message === "string" ? message : "(no message)",
    path: isList(path) ? path.map(String).join(" › ") : undefined,
    place: line !== undefined && column !== undefined ? { line, column } : undefined,
  };
}
