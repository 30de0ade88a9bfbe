import { type GraphQLError, Source } from "graphql";
import { type ErrorItem, errorItem, type GraphQlWire } from "../graphql-response.js";

/** A syntax error as the wire profile words it. */
export function syntaxErrorItem(error: GraphQLError, text: string, wire: GraphQlWire): ErrorItem {
  if (wire.graphqlSyntaxErrorText === "graphql-js") return errorItem(error);
  const { line, column } = error.locations?.[0] ?? { line: 1, column: 1 };
  return errorItem({
    message: `Syntax Error GraphQL request (${line}:${column}) ${described(error.message)}\n\n${excerpt(text, line, column)}`,
    locations: error.locations,
  });
}

/** graphql-js quotes the punctuation that it expected or found and ends with a point, the reference does neither. */
function described(message: string): string {
  return message
    .replace(/^Syntax Error: /, "")
    .replace(/\.$/, "")
    .replace(/(?<=\b(?:Unexpected|Expected|found) )"([!$&():=@[\]{|}]|\.\.\.)"/g, "$1")
    .replaceAll("<EOF>", "EOF");
}

/** The lines around the error, numbered, with a caret below the column (reference-graphql 1.2). */
function excerpt(text: string, line: number, column: number): string {
  const lines = new Source(text).body.split(/\r\n|[\n\r]/);
  const width = String(line + 1).length;
  const numbered = (at: number): string =>
    at < 1 || at > lines.length ? "" : `${String(at).padStart(width)}: ${lines[at - 1] ?? ""}\n`;
  const caret = `${" ".repeat(width + 1 + column)}^\n`;
  return `${numbered(line - 1)}${numbered(line)}${caret}${numbered(line + 1)}`;
}
