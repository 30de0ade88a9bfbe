import { describe, expect, it } from "vitest";
import { readConfiguration } from "./configuration.js";
import { environmentSource } from "./setting.js";

const KEYS = {
  AUTHENTICATION_APIKEY_ENABLED: "true",
  AUTHENTICATION_APIKEY_ALLOWED_KEYS: "a-key",
  AUTHENTICATION_APIKEY_USERS: "ann",
};
const ROLES = { AUTHORIZATION_RBAC_ENABLED: "on", AUTHORIZATION_RBAC_ROOT_USERS: "ann, bob" };
const ON = { ...KEYS, ...ROLES };

function read(environment: Readonly<Record<string, string>>) {
  const warnings: string[] = [];
  const { roles } = readConfiguration([environmentSource(environment)], (line) => warnings.push(line));
  return { roles, warnings };
}

describe("the settings of roles", () => {
  it("are off by default, and say so of what is set all the same", () => {
    expect(read({})).toEqual({ roles: undefined, warnings: [] });
    const { roles, warnings } = read({ AUTHORIZATION_ADMIN_USERS: "ann", AUTHORIZATION_RBAC_READONLY_GROUPS: "g" });
    expect(roles).toBeUndefined();
    expect(warnings.map((line) => line.split(" ")[0])).toEqual([
      "AUTHORIZATION_ADMIN_USERS",
      "AUTHORIZATION_RBAC_READONLY_GROUPS",
    ]);
  });

  it("say it where users are made at run time and whoever gets in may take over any of them", () => {
    const users = { ...KEYS, AUTHENTICATION_DB_USERS_ENABLED: "true" };
    const reported = (more: Readonly<Record<string, string>>) =>
      read({ ...users, ...more }).warnings.filter((line) => line.startsWith("AUTHENTICATION_DB_USERS_ENABLED"));
    expect(reported({})).toEqual([
      expect.stringContaining("whoever gets in may make and delete users, and act as any of them"),
    ]);
    expect(reported(ROLES)).toEqual([]);
    expect(reported({ AUTHORIZATION_ADMINLIST_ENABLED: "true", AUTHORIZATION_ADMINLIST_USERS: "ann" })).toEqual([]);
    expect(reported({ AUTHENTICATION_DB_USERS_ENABLED: "false" })).toEqual([]);
  });

  it("name root users and groups, under the former names, too", () => {
    const expected = { rootUsers: ["ann", "bob"], rootGroups: [], readOnlyGroups: [], staleSecondsMax: 0 };
    expect(read(ON).roles).toEqual(expected);
    expect(read({ ...KEYS, AUTHORIZATION_ENABLE_RBAC: "TRUE", AUTHORIZATION_ADMIN_USERS: "ann,bob" }).roles).toEqual(
      expected,
    );
    expect(read({ ...ON, AUTHORIZATION_ENABLE_RBAC: "1", AUTHORIZATION_ADMIN_USERS: "ann,bob" }).roles).toEqual(
      expected,
    );
    const groups = { AUTHORIZATION_RBAC_ENABLED: "1", AUTHORIZATION_RBAC_ROOT_GROUPS: "/ops" };
    expect(read({ ...groups, AUTHORIZATION_RBAC_READONLY_GROUPS: "anonymous" }).roles).toEqual({
      rootUsers: [],
      rootGroups: ["/ops"],
      readOnlyGroups: ["anonymous"],
      staleSecondsMax: 0,
    });
  });

  it("let a server start that lets anonymous read, and say it of one whose users must be there already", () => {
    const reading = { ...ROLES, AUTHORIZATION_RBAC_READONLY_GROUPS: "anonymous" };
    expect(read(reading)).toMatchObject({ roles: { readOnlyGroups: ["anonymous"] }, warnings: [] });
    expect(read({ ...ROLES, AUTHENTICATION_DB_USERS_ENABLED: "true" }).warnings).toEqual([
      "AUTHENTICATION_DB_USERS_ENABLED lets in users that were made before, and nobody can make the first one: " +
        "neither AUTHENTICATION_APIKEY_ENABLED nor AUTHENTICATION_OIDC_ENABLED is true",
    ]);
  });

  it("say that nobody can give roles where no root user has a key", () => {
    const noRoot = /^AUTHORIZATION_(RBAC_ROOT|ADMIN)_USERS names nobody who has an API key/;
    const lines = (more: object) => read({ ...ON, ...more }).warnings.filter((line) => noRoot.test(line));
    expect(lines({ AUTHORIZATION_RBAC_ROOT_USERS: "bob" })).toHaveLength(1);
    const former = { ...KEYS, AUTHORIZATION_RBAC_ENABLED: "on", AUTHORIZATION_ADMIN_USERS: "bob" };
    expect(read(former).warnings.filter((line) => noRoot.test(line))).toHaveLength(1);
    expect(lines({})).toEqual([]);
    const file = { AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE: "/keys" };
    expect(lines({ AUTHORIZATION_RBAC_ROOT_USERS: "bob", ...file })).toEqual([]);
  });

  it("say that nobody is in a group where there are no tokens", () => {
    const { warnings } = read({
      ...ON,
      AUTHORIZATION_RBAC_ROOT_GROUPS: "ops",
      AUTHORIZATION_RBAC_READONLY_GROUPS: "dev",
    });
    expect(warnings.filter((line) => line.includes("GROUPS"))).toEqual(
      ["ROOT", "READONLY"].map(
        (kind) =>
          `AUTHORIZATION_RBAC_${kind}_GROUPS names groups, which come with tokens, but nobody is in one: AUTHENTICATION_OIDC_ENABLED is not set`,
      ),
    );
  });

  it.each([
    [
      ROLES,
      /AUTHORIZATION_RBAC_ENABLED is on, but neither .*APIKEY_ENABLED nor .*OIDC_ENABLED is true: everybody is anonymous, who has no role\. Switch/,
    ],
    [{ ...ON, AUTHORIZATION_ENABLE_RBAC: "off" }, "say different things"],
    [{ ...ON, AUTHORIZATION_ADMIN_USERS: "ann" }, "say different things"],
    [
      { ...ON, AUTHORIZATION_ADMINLIST_ENABLED: "true", AUTHORIZATION_ADMINLIST_USERS: "a" },
      "AUTHORIZATION_RBAC_ENABLED and AUTHORIZATION_ADMINLIST_ENABLED exclude each other",
    ],
    [
      { AUTHORIZATION_ENABLE_RBAC: "1" },
      "AUTHORIZATION_ENABLE_RBAC is on, but neither AUTHORIZATION_RBAC_ROOT_USERS nor",
    ],
    [{ ...ON, AUTHORIZATION_RBAC_ROOT_USERS: "anonymous" }, "anonymous cannot have the role root"],
    [{ ...ON, AUTHORIZATION_RBAC_ROOT_GROUPS: "anonymous" }, "anonymous cannot have the role root"],
    [
      { ...ON, AUTHORIZATION_RBAC_ROOT_GROUPS: "g", AUTHORIZATION_RBAC_READONLY_GROUPS: "g" },
      "group 'g' is among the root groups and the read-only groups",
    ],
  ])("stop the start: %j", (environment, message) => {
    expect(() => read(environment)).toThrow(message);
  });
});
