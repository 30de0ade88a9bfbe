import type { AccessControl } from "../auth/access.js";
import type { AccessBook } from "./access-book.js";

/**
 * Authorization by roles, before a request's body is read: whoever may do what a route does nowhere is refused. On which class,
 * role or user he may is looked at by whoever knows that.
 */
export function authorizeByRoles(book: AccessBook): AccessControl["authorize"] {
  return (principal, { action, isEverywhere }) => {
    const permissions = book.permissionsOf(principal);
    if (isEverywhere === true) permissions?.requireEverywhere(action);
    else permissions?.requireAny(action);
  };
}
