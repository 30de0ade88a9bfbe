import { type DocumentNode, parse, print, TokenKind } from "graphql";
import { parseExact } from "../json/exact-json.js";
import { formatJson } from "../json/format-json.js";
import type { SharedQuery } from "../route.js";
import { InputProblem } from "./request-text.js";

/** Query and variables tidied up. Fails with InputProblem, and changes nothing, on what cannot be read. */
export function prettifyDraft({ query, variables }: SharedQuery): SharedQuery {
  return { query: prettifyQuery(query), variables: prettifyVariables(variables) };
}

function prettifyVariables(variables: string): string {
  if (variables.trim() === "") return "";
  try {
    return formatJson(parseExact(variables));
  } catch {
    throw new InputProblem("The variables are no JSON.");
  }
}

/** The query as graphql-js prints it. Comments would be lost, so a query with comments is left alone. */
export function prettifyQuery(query: string): string {
  if (query.trim() === "") return query;
  const document = parsed(query);
  if (hasComment(document)) {
    throw new InputProblem("Tidying up would drop the comments (#), so the query was left alone.");
  }
  return print(document).trimEnd();
}

function parsed(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens: 100_000 });
  } catch (error) {
    throw new InputProblem(error instanceof Error ? error.message : String(error));
  }
}

function hasComment(document: DocumentNode): boolean {
  for (let token = document.loc?.startToken ?? null; token !== null; token = token.next) {
    if (token.kind === TokenKind.COMMENT) return true;
  }
  return false;
}
