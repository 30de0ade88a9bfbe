import { describe, expect, it } from "vitest";
import { ANONYMOUS, type Permission, type Principal, type Verb } from "./access.js";
import { authorizeBy } from "./admin-list.js";

const VERBS: readonly Verb[] = ["get", "list", "create", "update", "delete", "validate"];
const user = (username: string, ...groups: string[]): Principal => ({ username, groups, userType: "oidc" });
/** An admin list goes by the verb alone. */
const permission = (verb: Verb): Permission => ({ verb, resource: "objects", action: "read_data" });

/** The verbs that a user is granted. */
function granted(authorize: ReturnType<typeof authorizeBy>, principal: Principal): readonly Verb[] {
  return VERBS.filter((verb) => {
    try {
      authorize(principal, permission(verb), []);
      return true;
    } catch {
      return false;
    }
  });
}

describe("the admin list", () => {
  const authorize = authorizeBy({
    users: ["alice"],
    readOnlyUsers: ["rita", "anonymous"],
    groups: [],
    readOnlyGroups: [],
  });

  it("grants everything to users, get and list to readers, nothing to anybody else", () => {
    expect(granted(authorize, user("alice"))).toEqual(VERBS);
    expect(granted(authorize, user("rita"))).toEqual(["get", "list"]);
    expect(granted(authorize, user("Alice"))).toEqual([]);
    expect(granted(authorize, user("bob", "alice", "rita"))).toEqual([]);
    expect(granted(authorize, { ...ANONYMOUS, groups: ["anonymous"] })).toEqual(["get", "list"]);
  });

  it("grants by groups too", () => {
    const byGroup = authorizeBy({ users: [], readOnlyUsers: ["rita"], groups: ["ops"], readOnlyGroups: ["staff"] });
    expect(granted(byGroup, user("bob", "staff", "ops"))).toEqual(VERBS);
    expect(granted(byGroup, user("bob", "staff"))).toEqual(["get", "list"]);
    expect(granted(byGroup, user("rita", "Ops"))).toEqual(["get", "list"]);
    expect(granted(byGroup, user("ops"))).toEqual([]);
  });

  it("grants everything to everybody when there is none", () => {
    expect(granted(authorizeBy(undefined), user("bob"))).toEqual(VERBS);
  });

  it("refuses with the words of the reference", () => {
    const refusal = (groups: string[]) => () => authorize(user("bob", ...groups), permission("create"), []);
    expect(refusal([])).toThrow(
      expect.objectContaining({
        code: "forbidden",
        message: "forbidden: user 'bob' has insufficient permissions to create objects",
      }),
    );
    expect(refusal(["g1"])).toThrow("forbidden: user 'bob' (of group 'g1') has insufficient");
    expect(refusal(["g1", "g2"])).toThrow("forbidden: user 'bob' (of groups 'g1', 'g2') has insufficient");
  });
});
