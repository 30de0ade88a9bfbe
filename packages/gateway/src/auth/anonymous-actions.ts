import { ACTIONS, type Action, ShoalError } from "@shoal/model";
import type { AccessControl, Verb } from "./access.js";

/**
 * What whoever sends no credentials may do somewhere, as requests are decided on: all actions, some or none. Fails with
 * `unavailable` while that is not known.
 */
export function anonymousActions(access: AccessControl): readonly Action[] {
  const principal = access.identify({ authorization: undefined, queryString: "" });
  // Nothing is waited for where there is no token.
  if (principal === undefined || principal instanceof Promise) return [];
  return (Object.keys(ACTIONS) as Action[]).filter((action) => {
    try {
      access.authorize(principal, { verb: verbOf(action), resource: action, action }, []);
      return true;
    } catch (thrown) {
      if (thrown instanceof ShoalError && thrown.code === "forbidden") return false;
      throw thrown;
    }
  });
}

function verbOf(action: Action): Verb {
  if (action.startsWith("read_")) return "get";
  if (action.startsWith("create_")) return "create";
  return action.startsWith("delete_") ? "delete" : "update";
}
