import { ShoalError } from "@shoal/model";
import type { AdminListConfiguration } from "@shoal/service-runtime";
import { type AccessControl, type Principal, resourceOf, userWithGroups } from "./access.js";

/**
 * Authorization (reference-rest 7.4): without a list everybody may do everything; with one, its users may do everything,
 * its readers `get` and `list`, and nobody else anything. A user is on a list by his name or by one of his groups;
 * `anonymous` can be listed, as either.
 */
export function authorizeBy(list: AdminListConfiguration | undefined): AccessControl["authorize"] {
  if (list === undefined) return () => {};
  const users = new Set(list.users);
  const readers = new Set(list.readOnlyUsers);
  const groups = new Set(list.groups);
  const readingGroups = new Set(list.readOnlyGroups);
  const isIn = (principal: Principal, listed: ReadonlySet<string>): boolean =>
    listed.size > 0 && principal.groups.some((group) => listed.has(group));
  return (principal, permission, params) => {
    if (users.has(principal.username) || isIn(principal, groups)) return;
    const reads = permission.verb === "get" || permission.verb === "list";
    if (reads && (readers.has(principal.username) || isIn(principal, readingGroups))) return;
    throw new ShoalError(
      "forbidden",
      `forbidden: ${userWithGroups(principal)} has insufficient permissions to ${permission.verb} ${resourceOf(permission, params)}`,
    );
  };
}
