import { SPEC_PROFILE } from "@shoal/model";
import { GraphQlHandler, type GraphQlHandlerDeps } from "../handler.js";
import { LIBRARY_CLASSES, LibraryQuery, LibraryView } from "./library.js";

/** For requests that have all the time they want. */
export const CONTEXT = { deadline: Number.MAX_SAFE_INTEGER };

/** A handler over the library, with what it stands on; `ask` gives the response's JSON. */
export function library(deps: Partial<GraphQlHandlerDeps> = {}) {
  const query = new LibraryQuery();
  const schema = new LibraryView(LIBRARY_CLASSES);
  const handler = new GraphQlHandler({ schema, query, wire: SPEC_PROFILE, onFault: () => {}, ...deps });
  const post = async (body: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await handler.execute(Buffer.from(text), CONTEXT);
    return { status: response.status, text: response.body.toString(), json: JSON.parse(response.body.toString()) };
  };
  const ask = async (graphql: string, variables?: object, operationName?: string) =>
    (await post({ query: graphql, variables, operationName })).json;
  return { query, schema, post, ask };
}
