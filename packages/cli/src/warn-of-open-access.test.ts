import { type Logger, silentLogger } from "@shoal/service-runtime";
import { describe, expect, it } from "vitest";
import { warnOfOpenAccess } from "./warn-of-open-access.js";

type Settings = Parameters<typeof warnOfOpenAccess>[0];

const OPEN: Settings = {
  host: "0.0.0.0",
  port: 8080,
  authentication: { anonymousAccess: true, oidc: undefined },
  authorization: undefined,
  allowAnonymousRemote: false,
};

function warnings(settings: Partial<Settings>): readonly string[] {
  const lines: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (_, message) => lines.push(message) };
  warnOfOpenAccess({ ...OPEN, ...settings }, logger);
  return lines;
}

describe("S5: a server that other machines reach without authentication", () => {
  it.each<[string, Partial<Settings>, RegExp]>([
    ["an address of all", {}, /whoever reaches port 8080 may read, change and delete everything.*HOST is 0\.0\.0\.0/],
    ["one address", { host: "192.0.2.1" }, /ALLOW_ANONYMOUS_REMOTE=true/],
    ["every IPv6 address", { host: "::" }, /HOST=127\.0\.0\.1/],
    [
      "a list that lets anonymous read",
      { authorization: { users: ["a"], readOnlyUsers: ["anonymous"] } },
      /may read everything/,
    ],
    [
      "a list that lets anonymous write",
      { authorization: { users: ["anonymous"], readOnlyUsers: [] } },
      /change and delete/,
    ],
  ])("is warned of: %s", (_, settings, message) => {
    expect(warnings(settings)).toEqual([expect.stringMatching(message)]);
  });

  it.each<[string, Partial<Settings>]>([
    ["this machine", { host: "127.0.0.1" }],
    ["localhost", { host: "localhost" }],
    ["IPv6's own", { host: "::1" }],
    ["tokens are demanded", { authentication: { anonymousAccess: false, oidc: undefined } }],
    ["anonymous is on no list", { authorization: { users: ["a"], readOnlyUsers: ["b"] } }],
    ["it is meant", { allowAnonymousRemote: true }],
  ])("is not: %s", (_, settings) => {
    expect(warnings(settings)).toEqual([]);
  });
});
