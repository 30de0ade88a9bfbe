/** What the page shows. It stands in the fragment of the address, which never leaves the browser. */
export type Route =
  | { readonly view: "query"; readonly shared?: SharedQuery }
  | { readonly view: "classes"; readonly className?: string }
  | { readonly view: "object"; readonly id: string };

/** A query that somebody sent as a link. It is put into the editor and never run by itself. */
export interface SharedQuery {
  readonly query: string;
  readonly variables: string;
}

const OBJECT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isObjectId(text: string): boolean {
  return OBJECT_ID.test(text);
}

/** Total: what is not understood is the query view. */
export function readRoute(fragment: string): Route {
  const [path = "", parameters = ""] = split(fragment.replace(/^#/, ""), "?");
  const [, view, rest] = /^\/(query|classes|objects)(?:\/(.*))?$/.exec(path) ?? [];
  const name = decoded(rest ?? "");
  if (view === "classes") return name === "" ? { view: "classes" } : { view: "classes", className: name };
  if (view === "objects" && isObjectId(name)) return { view: "object", id: name.toLowerCase() };
  const shared = new URLSearchParams(parameters);
  const query = shared.get("query");
  return query === null
    ? { view: "query" }
    : { view: "query", shared: { query, variables: shared.get("variables") ?? "" } };
}

/** The fragment that `readRoute` reads as this route. */
export function writeRoute(route: Route): string {
  if (route.view === "object") return `#/objects/${route.id}`;
  if (route.view === "classes") {
    return route.className === undefined ? "#/classes" : `#/classes/${encodeURIComponent(route.className)}`;
  }
  if (route.shared === undefined) return "#/query";
  const { query, variables } = route.shared;
  return `#/query?${new URLSearchParams(variables === "" ? { query } : { query, variables })}`;
}

function split(text: string, at: string): readonly string[] {
  const index = text.indexOf(at);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
