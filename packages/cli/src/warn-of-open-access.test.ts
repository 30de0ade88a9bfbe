import { createAccessControl } from "@shoal/gateway";
import { type AccessService, type AccessSnapshot, WatchedValue } from "@shoal/rpc";
import {
  environmentSource,
  type Logger,
  ResourceScope,
  readConfiguration,
  silentLogger,
  systemClock,
} from "@shoal/service-runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAccessBook, warnOfOpenAccess } from "./open-access-book.js";

let scope: ResourceScope;
beforeEach(() => {
  scope = new ResourceScope();
});
afterEach(() => scope[Symbol.asyncDispose]());

const KEYS = {
  AUTHENTICATION_APIKEY_ENABLED: "true",
  AUTHENTICATION_APIKEY_ALLOWED_KEYS: "a-key",
  AUTHENTICATION_APIKEY_USERS: "ann",
};
const ROLES = {
  ...KEYS,
  AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true",
  AUTHORIZATION_RBAC_ENABLED: "true",
  AUTHORIZATION_RBAC_ROOT_USERS: "ann",
};
const LIST = { AUTHORIZATION_ADMINLIST_ENABLED: "true", AUTHORIZATION_ADMINLIST_USERS: "ann" };

/** What is warned of with these settings, and whether it was known; `roles`: what the coordinator tells of them. */
function open(
  environment: Readonly<Record<string, string>>,
  roles = new WatchedValue<AccessSnapshot | undefined>(NONE),
) {
  const configuration = readConfiguration([environmentSource({ HOST: "0.0.0.0", ...environment })], () => {});
  const service = {
    watch: (listener) => roles.watch(listener),
  } satisfies Partial<AccessService> as AccessService;
  const book = openAccessBook({ configuration, clock: systemClock }, service, [], scope);
  const parts = { clock: systemClock, logger: silentLogger, book };
  const access = scope.use(createAccessControl(configuration, parts));
  const lines: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (_, message) => lines.push(message) };
  return { lines, isKnown: () => warnOfOpenAccess(configuration, access, logger) };
}

const NONE: AccessSnapshot = { historyId: "a", version: 1, entries: new Map() };

describe("S5: a server that other machines reach without authentication", () => {
  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ["an address of all", {}, /whoever reaches port 8080 may read, change and delete everything.*HOST is 0\.0\.0\.0/],
    ["one address", { HOST: "192.0.2.1" }, /ALLOW_ANONYMOUS_REMOTE=true/],
    ["every IPv6 address", { HOST: "::" }, /HOST=127\.0\.0\.1/],
    [
      "a list that lets anonymous read",
      { ...LIST, AUTHORIZATION_ADMINLIST_READONLY_USERS: "anonymous" },
      /may read everything/,
    ],
    [
      "a list that lets its group read",
      { ...LIST, AUTHORIZATION_ADMINLIST_READONLY_GROUPS: "anonymous" },
      /may read e/,
    ],
    ["a list that lets anonymous write", { ...LIST, AUTHORIZATION_ADMINLIST_USERS: "anonymous" }, /change and delete/],
    ["a list that lets its group write", { ...LIST, AUTHORIZATION_ADMINLIST_GROUPS: "anonymous" }, /change and delete/],
    [
      "roles that let anonymous read",
      { ...ROLES, AUTHORIZATION_RBAC_READONLY_GROUPS: "anonymous" },
      /may read everything/,
    ],
  ])("is warned of: %s", (_, environment, message) => {
    const { lines, isKnown } = open(environment);
    expect(isKnown()).toBe(true);
    expect(lines).toEqual([expect.stringMatching(message)]);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ["this machine", { HOST: "127.0.0.1" }],
    ["localhost", { HOST: "localhost" }],
    ["IPv6's own", { HOST: "::1" }],
    ["tokens are demanded", KEYS],
    ["anonymous is on no list", { ...KEYS, AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true", ...LIST }],
    ["anonymous has no role", ROLES],
    ["it is meant", { ALLOW_ANONYMOUS_REMOTE: "true" }],
  ])("is not: %s", (_, environment) => {
    const { lines, isKnown } = open(environment);
    expect(isKnown()).toBe(true);
    expect(lines).toEqual([]);
  });

  it("is to be asked about again while roles are not known", () => {
    const roles = new WatchedValue<AccessSnapshot | undefined>(undefined);
    const { lines, isKnown } = open({ ...ROLES, AUTHORIZATION_RBAC_READONLY_GROUPS: "anonymous" }, roles);
    expect([isKnown(), lines]).toEqual([false, []]);
    roles.set(NONE);
    expect(isKnown()).toBe(true);
    expect(lines).toHaveLength(1);
  });
});
