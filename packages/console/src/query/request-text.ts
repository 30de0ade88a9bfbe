import { type DocumentNode, type OperationDefinitionNode, parse, print, TokenKind } from "graphql";
import { parseExact } from "../json/exact-json.js";
import { formatJson } from "../json/format-json.js";
import type { SharedQuery } from "../route.js";

/** What the person has to change before anything can be sent. */
export class InputProblem extends Error {}

/**
 * The body of a GraphQL request. The variables go out letter by letter as they were written: their numbers may have more
 * digits than JavaScript holds. Fails with InputProblem.
 */
export function requestText(query: string, variables: string, operationName: string | undefined): string {
  if (query.trim() === "") throw new InputProblem("There is no query yet.");
  const members = [`"query":${JSON.stringify(query)}`];
  if (variables.trim() !== "") members.push(`"variables":${checkedVariables(variables)}`);
  if (operationName !== undefined) members.push(`"operationName":${JSON.stringify(operationName)}`);
  return `{${members.join(",")}}`;
}

function checkedVariables(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputProblem(`The variables are no JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof value !== "object" || Array.isArray(value)) throw new InputProblem("The variables must be a JSON object.");
  return text.trim();
}

/**
 * Which operation to run when there are several: the one the cursor is in, or else the first. Undefined when there is
 * no choice, or none that has a name.
 */
export function operationNameAt(query: string, cursor: number): string | undefined {
  let operations: readonly OperationDefinitionNode[];
  try {
    const document = parse(query, { maxTokens: 100_000 });
    operations = document.definitions.filter((one) => one.kind === "OperationDefinition");
  } catch {
    return undefined;
  }
  if (operations.length < 2) return undefined;
  const here = operations.find(({ loc }) => loc !== undefined && loc.start <= cursor && cursor <= loc.end);
  return (here ?? operations[0])?.name?.value;
}

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
