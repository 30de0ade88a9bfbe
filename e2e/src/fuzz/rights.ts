import type { SeededRandom } from "@shoal/seeded-random";
import type { FuzzRequest } from "./odd-requests.js";

/** A permission as clients send it. */
export type Permission = Readonly<Record<string, unknown>> & { readonly action: string };

/** Beginnings of class names that users may have rights on. Others nobody may touch. */
const PATTERNS = ["Fuzz*", "FuzzA", "FuzzB", "FuzzC", "FuzzD"];
const DATA = ["create_data", "read_data", "update_data", "delete_data"];
const COLLECTIONS = ["create_collections", "read_collections", "update_collections", "delete_collections"];
const READING: Readonly<Record<string, object>> = {
  read_nodes: { nodes: { verbosity: "verbose", collection: "Fuzz*" } },
  read_roles: { roles: { role: "*", scope: "all" } },
  read_users: { users: { users: "*" } },
  read_groups: { groups: { group: "*", groupType: "oidc" } },
};

/** None that changes rights: what a user may do is known as long as nobody gets more. */
export function randomPermissions(chance: SeededRandom): readonly Permission[] {
  return Array.from({ length: chance.below(12) }, () => {
    const kind = chance.below(5);
    const collection = chance.pick(PATTERNS);
    if (kind < 2) return { action: chance.pick(DATA), data: { collection } };
    if (kind < 4) return { action: chance.pick(COLLECTIONS), collections: { collection } };
    const action = chance.pick(Object.keys(READING));
    return { action, ...READING[action] };
  });
}

/** What an operation needs at the least, as deploy/ROLES.md has it; undefined where everybody may. */
export function actionOf(method: string, path: string): string | undefined {
  const operation = `${method} ${path}`;
  if (path.startsWith("/v1/.well-known/") || FOR_EVERYBODY.has(operation)) return undefined;
  const rule = RULES.find(([pattern]) => pattern.test(operation));
  if (rule === undefined) throw new Error(`${operation}: say in e2e/src/fuzz/rights.ts which right it needs`);
  return rule[1];
}

const FOR_EVERYBODY = new Set([
  ...["GET /v1", "GET /v1/meta", "GET /v1/docs", "GET /v1/openapi.json", "GET /v1/users/own-info"],
]);

const RULES: readonly (readonly [RegExp, string])[] = [
  [/^(GET|HEAD) \/v1\/(objects|\{id\})/, "read_data"],
  [/^POST \/v1\/objects\/validate$/, "read_data"],
  [/^POST \/v1\/(batch\/)?objects$/, "create_data"],
  [/^(POST|PUT|DELETE) \/v1\/objects\/\{id\}\/references\//, "update_data"],
  [/^(PUT|PATCH) \/v1\/objects\/\{id\}$/, "update_data"],
  [/^DELETE \/v1\/objects\/\{id\}$/, "delete_data"],
  [/^POST \/v1\/batch\/references$/, "update_data"],
  [/^POST \/v1\/classifications?$/, "update_data"],
  [/^GET \/v1\/classifications?\//, "read_data"],
  [/^POST \/v1\/graphql/, "read_data"],
  [/^GET \/v1\/modules\//, "read_data"],
  [/ \/v1\/modules\//, "update_data"],
  [/^GET \/v1\/nodes/, "read_nodes"],
  [/^GET \/v1\/schema/, "read_collections"],
  [/^POST \/v1\/schema$/, "create_collections"],
  [/^(PUT \/v1\/schema\/\{class\}|POST \/v1\/schema\/\{class\}\/properties)$/, "update_collections"],
  [/^DELETE \/v1\/schema\//, "delete_collections"],
  [/^(GET \/v1\/authz\/roles|POST \/v1\/authz\/roles\/\{role\}\/has-permission$)/, "read_roles"],
  [/^POST \/v1\/authz\/roles$/, "create_roles"],
  [/^POST \/v1\/authz\/roles\//, "update_roles"],
  [/^DELETE \/v1\/authz\/roles\//, "delete_roles"],
  [/^POST \/v1\/authz\/users\//, "assign_and_revoke_users"],
  [/^GET \/v1\/(authz\/users|users\/db)/, "read_users"],
  [/^POST \/v1\/authz\/groups\//, "assign_and_revoke_groups"],
  [/^GET \/v1\/authz\/groups\//, "read_groups"],
  [/^POST \/v1\/users\/db\/\{user\}$/, "create_users"],
  [/^POST \/v1\/users\/db\//, "update_users"],
  [/^DELETE \/v1\/users\/db\//, "delete_users"],
];

/** Whether the action is allowed on the class; on anything at all where none is named. */
export function allows(permissions: readonly Permission[], action: string, className: string | undefined): boolean {
  return permissions.some((permission) => {
    if (permission.action !== action) return false;
    const resource = (permission.data ?? permission.collections) as { readonly collection: string } | undefined;
    if (className === undefined || resource === undefined) return true;
    const { collection } = resource;
    return collection.endsWith("*") ? className.startsWith(collection.slice(0, -1)) : className === collection;
  });
}

/** The class that a request names, in its path, its query or its body; undefined when that is none or not clear. */
export function namedClass(path: string, { target, body }: FuzzRequest): string | undefined {
  const [targetPath = "", query = ""] = target.split("?", 2);
  const at = path.split("/").indexOf("{class}");
  const named =
    at >= 0 ? decoded(targetPath.split("/")[at]) : (new URLSearchParams(query).getAll("class").at(-1) ?? inBody(body));
  return named === undefined || named === "" ? undefined : named.charAt(0).toUpperCase() + named.slice(1);
}

function decoded(segment = ""): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function inBody(body: Buffer | undefined): string | undefined {
  if (body === undefined || body.length > 64 * 1024) return undefined;
  const text = body.toString("utf8");
  // In another spelling, or twice, it is not for here to say which one counts.
  if ((text.match(/"class"/gi) ?? []).length !== 1 || !text.includes('"class"')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const name = typeof value === "object" && value !== null ? (value as { class?: unknown }).class : undefined;
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}
