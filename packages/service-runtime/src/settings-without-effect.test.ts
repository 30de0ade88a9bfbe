import { describe, expect, it } from "vitest";
import { readConfiguration } from "./configuration.js";
import { environmentSource, SettingsReader } from "./setting.js";
import { SETTINGS } from "./setting-groups.js";
import { readersOf, SERVICE_COMMANDS, type ServiceCommand } from "./setting-readers.js";
import { warnOfSettingsWithoutEffect } from "./settings-without-effect.js";

function warningsOf(environment: Record<string, string>, command?: ServiceCommand): readonly string[] {
  const warnings: string[] = [];
  readConfiguration([environmentSource(environment)], (line) => warnings.push(line), undefined, command);
  return warnings;
}

describe.each(SERVICE_COMMANDS)("a setting that shoal %s does not read", (command) => {
  const unread = SETTINGS.filter((setting) => !readersOf(setting).includes(command));

  it("is a warning that names it and the commands on which it acts; of one that it reads nothing is said of commands", () => {
    expect(unread.length).toBeGreaterThan(5);
    for (const setting of SETTINGS) {
      const { variable, fallback } = setting;
      const readers = readersOf(setting);
      const warnings: string[] = [];
      const source = environmentSource({ [variable]: String(fallback ?? "") || "x" });
      warnOfSettingsWithoutEffect(command, new SettingsReader([source], (line) => warnings.push(line)));
      const ofCommands = warnings.filter((line) => line.includes("no effect on 'shoal"));
      if (readers.includes(command)) {
        expect(ofCommands, variable).toEqual([]);
      } else {
        const where = readers.map((name) => `'shoal ${name}'`).join(", ");
        expect(warnings, variable).toEqual([
          `${variable} is set but has no effect on 'shoal ${command}': it acts on ${where}`,
        ]);
      }
    }
  });
});

describe("settings that are set and do nothing", () => {
  it("of the same other commands are one line", () => {
    expect(warningsOf({ ETCD_ENDPOINTS: "etcd:2379", CLUSTER_EXPECTED_STORAGE_NODES: "3" }, "serve")).toEqual([
      "CLUSTER_EXPECTED_STORAGE_NODES, ETCD_ENDPOINTS are set but have no effect on 'shoal serve': they act on 'shoal coordinator'",
    ]);
    expect(warningsOf({ INTERNAL_TLS: "on", COORDINATOR_ADDRESSES: "a:1" }, "serve")).toEqual([
      "COORDINATOR_ADDRESSES is set but has no effect on 'shoal serve': it acts on 'shoal gateway', 'shoal storage-node'",
      "INTERNAL_TLS is set but has no effect on 'shoal serve': it acts on 'shoal gateway', 'shoal storage-node', 'shoal coordinator', 'shoal contextionary'",
    ]);
  });

  it.each<[Record<string, string>, ServiceCommand, string]>([
    [{ METRICS_HOST: "0.0.0.0" }, "coordinator", "METRICS_HOST is set but has no effect: METRICS_PORT is not set"],
    [{ ALLOWED_HOSTS: "a.lan" }, "storage-node", "ALLOWED_HOSTS is set but has no effect: METRICS_PORT is not set"],
    [
      { LOG_DEBUG: "true", LOG_LEVEL: "info" },
      "serve",
      "LOG_DEBUG is set but has no effect: LOG_LEVEL is set, and counts",
    ],
    [
      { GRAPHQL_ROWS_MAX: "5000" },
      "serve",
      "GRAPHQL_ROWS_MAX is set but has no effect: QUERY_MAXIMUM_RESULTS is more, and counts",
    ],
    [
      { AUTOSCHEMA_ENABLED: "false", AUTOSCHEMA_DEFAULT_STRING: "string" },
      "gateway",
      "AUTOSCHEMA_DEFAULT_STRING is set but has no effect: auto-schema is off (auto_schema.enabled)",
    ],
    [
      { INTERNAL_TLS_CA_FILE: "ca.pem" },
      "serve",
      "INTERNAL_TLS_CA_FILE is set but has no effect: TLS between processes is off (internal.tls; of 'shoal serve', contextionary.tls)",
    ],
    [
      { INTERNAL_TLS_KEY_FILE: "key.pem", INTERNAL_TLS: "off" },
      "storage-node",
      "INTERNAL_TLS_KEY_FILE is set but has no effect: TLS between processes is off (internal.tls; of 'shoal serve', contextionary.tls)",
    ],
    [
      { HELD_REQUEST_BYTES_MAX: "0", SHARD_WAIT_SECONDS: "0" },
      "gateway",
      "HELD_REQUEST_BYTES_MAX is set but has no effect: SHARD_WAIT_SECONDS is 0: no request is held",
    ],
    [{ ETCD_PREFIX: "/x" }, "coordinator", "ETCD_PREFIX is set but has no effect: ETCD_ENDPOINTS is not set"],
    [
      { ETCD_ENDPOINTS: "etcd:2379", ETCD_PASSWORD: "x" },
      "coordinator",
      "ETCD_PASSWORD is set but has no effect: ETCD_USERNAME is not set",
    ],
    [{ ETCD_PASSWORD: "x" }, "coordinator", "ETCD_PASSWORD is set but has no effect: ETCD_ENDPOINTS is not set"],
  ])("%j of %s: the one warning says why", (environment, command, warning) => {
    expect(warningsOf(environment, command)).toEqual([warning]);
  });

  const ofModules = SETTINGS.filter(({ variable }) => /_INFERENCE_API$|^CONTEXTIONARY_/.test(variable));
  it.each(ofModules.map(({ variable }) => variable))("%s without its module in ENABLE_MODULES", (variable) => {
    const source = environmentSource({ [variable]: "x", ENABLE_MODULES: "none" });
    const warnings: string[] = [];
    warnOfSettingsWithoutEffect("serve", new SettingsReader([source], (line) => warnings.push(line)));
    expect(warnings).toEqual([
      expect.stringMatching(`^${variable} is set but has no effect: ENABLE_MODULES does not name [a-z2-]+$`),
    ]);
    const [, module = ""] = / name (.+)$/.exec(warnings[0] ?? "") ?? [];
    warnings.length = 0;
    for (const enabled of [module, `x, ${module}`, ""]) {
      const named = environmentSource({ [variable]: "x", ENABLE_MODULES: enabled });
      warnOfSettingsWithoutEffect("serve", new SettingsReader([named], (line) => warnings.push(line)));
    }
    expect(warnings).toEqual([]);
  });

  it("nothing is said where what they belong to is on", () => {
    for (const command of ["serve", "gateway", undefined] as const) {
      expect(warningsOf({ ALLOWED_HOSTS: "a.lan" }, command)).toEqual([]);
    }
    expect(warningsOf({ ALLOWED_HOSTS: "a.lan", METRICS_PORT: "1" }, "coordinator")).toEqual([]);
    expect(warningsOf({ METRICS_HOST: "0.0.0.0", METRICS_PORT: "1", LOG_DEBUG: "true" }, "storage-node")).toEqual([]);
    const tls = { INTERNAL_TLS_CA_FILE: "a", INTERNAL_TLS_CERT_FILE: "b", INTERNAL_TLS_KEY_FILE: "c" };
    expect(warningsOf(tls, "gateway")).toEqual([]);
    expect(warningsOf({ ...tls, CONTEXTIONARY_TLS: "on", CONTEXTIONARY_URL: "c:9999" }, "serve")).toEqual([]);
  });
});

describe("an admin list", () => {
  const KEYS = {
    AUTHENTICATION_APIKEY_ENABLED: "true",
    AUTHENTICATION_APIKEY_ALLOWED_KEYS: "a-key-of-some-length-1,a-key-of-some-length-2",
    AUTHENTICATION_APIKEY_USERS: "ann,bob",
    AUTHORIZATION_ADMINLIST_ENABLED: "true",
  };
  const reason = "(AUTHENTICATION_APIKEY_USERS), and no tokens are accepted (AUTHENTICATION_OIDC_ENABLED)";

  it("that names nobody who can get in is a warning, and so are the single users who cannot", () => {
    expect(warningsOf({ ...KEYS, AUTHORIZATION_ADMINLIST_USERS: "Ann" })).toContain(
      `AUTHORIZATION_ADMINLIST_USERS names nobody who can get in: "Ann" has no API key ${reason}`,
    );
    const many = "ann,a1,a2,a3,a4,a5,a6,a7";
    expect(warningsOf({ ...KEYS, AUTHORIZATION_ADMINLIST_READONLY_USERS: many })).toContain(
      `AUTHORIZATION_ADMINLIST_READONLY_USERS names some who cannot get in: "a1", "a2", "a3", "a4", "a5" and 2 more have no API key ${reason}`,
    );
  });

  it("of users with keys, of tokens, of a file, of users made at run time, or of anonymous is none", () => {
    const list = { AUTHORIZATION_ADMINLIST_USERS: "ann", AUTHORIZATION_ADMINLIST_READONLY_USERS: "bob,anonymous" };
    const keys = { ...KEYS, AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true" };
    expect(warningsOf({ ...keys, ...list })).toEqual([]);
    const other = { ...KEYS, AUTHORIZATION_ADMINLIST_USERS: "carl" };
    expect(warningsOf({ ...other, AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE: "/keys" })).toEqual([]);
    expect(warningsOf({ ...other, AUTHENTICATION_DB_USERS_ENABLED: "true" })).toEqual([]);
    const oidc = {
      AUTHENTICATION_OIDC_ENABLED: "true",
      AUTHENTICATION_OIDC_ISSUER: "https://issuer.example",
      AUTHENTICATION_OIDC_USERNAME_CLAIM: "sub",
      AUTHENTICATION_OIDC_CLIENT_ID: "shoal",
    };
    expect(warningsOf({ ...other, ...oidc })).toEqual([]);
  });
});
