import { describe, expect, it } from "vitest";
import { readConfiguration } from "./configuration.js";
import { readConfigurationText } from "./configuration-text.js";
import { environmentSource, type SettingSource } from "./setting.js";
import { SETTINGS } from "./setting-groups.js";
import { UNBUILT_FEATURES } from "./unbuilt-features.js";

function file(text: string): SettingSource {
  const values = readConfigurationText(text, "f.yaml");
  return ({ key }) => values.get(key);
}

function read(text: string, environment: Record<string, string> = {}) {
  return readConfiguration([environmentSource(environment), file(text)], () => {});
}

const YAML = `
# A comment.
origin: https://db.example.com
persistence:
  dataPath: /var/lib/shoal
query_defaults:
  limit: 50
query_maximum_results: 0x1000
log: {format: text}
`;

describe("a configuration file", () => {
  it("sets what its keys name, in YAML or JSON", () => {
    const expected = {
      origin: "https://db.example.com",
      dataPath: "/var/lib/shoal",
      queryDefaultsLimit: 50,
      queryMaximumResults: 4096,
      logFormat: "text",
      port: 8080,
    };
    expect(read(YAML)).toMatchObject(expected);
    const json = {
      origin: "https://db.example.com",
      persistence: { dataPath: "/var/lib/shoal" },
      query_defaults: { limit: 50 },
      query_maximum_results: 4096,
      log: { format: "text" },
    };
    expect(read(JSON.stringify(json))).toMatchObject(expected);
    expect(read(JSON.stringify(json, undefined, "\t"))).toMatchObject(expected);
    expect(read(`\uFEFF${YAML}`.replaceAll("\n", "\r\n"))).toMatchObject(expected);
  });

  it("yields to a variable, but not to an empty one", () => {
    expect(read(YAML, { QUERY_DEFAULTS_LIMIT: "7", ORIGIN: "", PERSISTENCE_DATA_PATH: "/x" })).toMatchObject({
      queryDefaultsLimit: 7,
      origin: "https://db.example.com",
      dataPath: "/x",
    });
  });

  it("takes the text of a variable for every value", () => {
    expect(read('port: "9000"\nauthentication: {anonymous_access: {enabled: "on"}}')).toMatchObject({
      port: 9000,
      authentication: { anonymousAccess: true },
    });
  });

  it.each(["", "# nothing\n", "---\n", "{}", "null", "port:\ncluster:\norigin: ''"])("may say nothing: %j", (text) => {
    expect(read(text)).toEqual(read("{}"));
  });

  it("debug is the log level where none is set", () => {
    expect(read("debug: true").logLevel).toBe("debug");
    expect(read("debug: true\nlog: {level: error}").logLevel).toBe("error");
    expect(read("debug: true", { LOG_LEVEL: "info" }).logLevel).toBe("info");
    expect(read("debug: false").logLevel).toBe("info");
  });

  it.each([
    ["prot: 1", 'f.yaml line 1 has the unknown key "prot"; the nearest known key is port'],
    ["a: 1\nport: x", 'f.yaml line 1 has the unknown key "a"'],
    [
      "\nquery_defaults:\n  limt: 1",
      'f.yaml line 3 has the unknown key "query_defaults.limt"; the nearest known key is query_defaults.limit',
    ],
    ["data_path: x", 'f.yaml line 1 has the unknown key "data_path"; the nearest known key is persistence.dataPath'],
    ["QUERY_DEFAULTS_LIMIT: 1", "the nearest known key is query_defaults.limit"],
    [
      "query_defaults.limit: 1",
      "names are nested, not joined with dots; the nearest known key is query_defaults.limit",
    ],
    ["cluster: {cluster.hostname: x}", 'unknown key "cluster.cluster.hostname"'],
    ["__proto__: {port: 1}", 'unknown key "__proto__"'],
    ["cluster: {constructor: x}", 'unknown key "cluster.constructor"'],
    ["toString: 1", 'unknown key "toString"'],
    ["port: 1\nhost: x\nport: 2", "f.yaml line 3 has the key port for the second time; the first is f.yaml line 1"],
    ['{"log": {"level": "info"}, "log": {"format": "text"}}', "has the key log for the second time"],
    ["port:\nport: 2", "has the key port for the second time"],
    ["1: x", "f.yaml line 1 has a key that is no text"],
    ["cluster: {[a]: x}", "f.yaml line 1 has a key that is no text below cluster"],
    ["cluster: x", "f.yaml line 1 must have keys and values: cluster is a section"],
    ["- port", "f.yaml line 1 must have keys and values"],
    ["hello", "f.yaml line 1 must have keys and values"],
    ["port: {a: 1}", "f.yaml line 1: port must be text, a number, true or false, or a list"],
    ["port: &x 1\nname: *x", "f.yaml line 2: name must be text, a number, true or false, or a list, not an alias"],
    ["origin: !!binary aGk=", "f.yaml line 1"],
    ["origin: !own x", "f.yaml line 1, column 9 is not valid YAML or JSON: Unresolved tag"],
    ["a: 1\n b: 2", "f.yaml line 1"],
    ["port: 1\n---\nport: 2", "f.yaml has 2 documents, not one"],
    ["%A", "f.yaml line 1, column"],
    ['{"port": 1', "f.yaml line 1, column"],
    ["cluster:\n\thostname: x", "f.yaml line 2, column 1 is not valid YAML or JSON: Tabs"],
    ["\u001b[2Jx: 1", '"\\u001b[2Jx"'],
  ])("refuses %j in one line", (text, message) => {
    expect(() => read(text)).toThrow(message);
    expect(() => read(text)).toThrow(/^.*$/);
  });

  it.each([
    ["port: true", "port (f.yaml line 1) must be a whole number from 0 to 65535, got true"],
    ["port: 1.5", "port (f.yaml line 1) must be a whole number from 0 to 65535, got 1.5"],
    ["port: .nan", "port (f.yaml line 1) must be a whole number from 0 to 65535, got NaN"],
    ["port: [8080]", "port (f.yaml line 1) must be a whole number from 0 to 65535, got [8080]"],
    [
      "query_maximum_results: 99999999999999999999",
      "must be a whole number from 1 to 1000000, got 100000000000000000000",
    ],
    ["persistence: {dataPath: 5}", "persistence.dataPath (f.yaml line 1) must be text without control characters"],
    [
      'persistence: {dataPath: "a\\0b"}',
      "persistence.dataPath (f.yaml line 1) must be text without control characters",
    ],
    ["origin: true", "origin (f.yaml line 1) must be an absolute http or https URL"],
    ["cluster: {hostname: 1}", "cluster.hostname (f.yaml line 1) must be a host name"],
    ["wire_profile: Spec", 'wire_profile (f.yaml line 1) must be one of spec, weaviate, got "Spec"'],
    ["debug: 2", "debug (f.yaml line 1) must be one of true, on"],
    ["debug: [true]", "debug (f.yaml line 1) must be one of true, on"],
    [`name: [${"a,".repeat(500)}]`, "…"],
    [
      "query_defaults: {limit: 20}\nquery_maximum_results: 10",
      "query_defaults.limit (f.yaml line 1) must be at most query_maximum_results (f.yaml line 2), which is 10, got 20",
    ],
    ["contextionary: {url: 'c11y'}", "contextionary.url (f.yaml line 1) must be host:port with a port from 1 to 65535"],
    ["enable_modules: []", "enable_modules (f.yaml line 1) must be names separated by commas, or none alone, got []"],
    ["enable_modules: 5", "enable_modules (f.yaml line 1) must be texts separated by commas, or a list of texts"],
    [
      "modules_path: ./modules",
      "modules_path (f.yaml line 1) asks for modules from files, which this version does not",
    ],
    [
      "cluster: {gossipBindPort: 7946}",
      "cluster.gossipBindPort (f.yaml line 1) asks for nodes that find each other by gossip",
    ],
  ])("refuses the value in %j, naming key and line", (text, message) => {
    expect(() => read(text)).toThrow(message);
    expect(() => read(text)).toThrow(/^.{1,600}$/);
  });

  it.each([
    ["brackets", "[".repeat(500_000)],
    ["balanced brackets", `${"[".repeat(20_000)}${"]".repeat(20_000)}`],
    ["braces", "{a: ".repeat(100_000)],
    ["dashes", "- ".repeat(200_000)],
    ["question marks", "? ".repeat(200_000)],
    ["indented keys", Array.from({ length: 1_000 }, (_, i) => `${" ".repeat(i)}cluster:\n`).join("")],
  ])("refuses %s nested thousands deep", (_, text) => {
    expect(() => read(text)).toThrow("the configuration file f.yaml is nested more than 16 deep");
  });

  it("refuses aliases that stand for more and more", () => {
    const lines = Array.from({ length: 30 }, (_, i) => `&a${i + 1} [${`*a${i},`.repeat(10)}]`);
    expect(() => read(`name: [&a0 x, ${lines.join(", ")}]`)).toThrow(/name (must be|has a list)/);
  });

  it("puts nothing on a prototype", () => {
    expect(() => read("__proto__:\n  polluted: 1\n")).toThrow();
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});

describe("keys", () => {
  const keys = [...SETTINGS, ...UNBUILT_FEATURES].map(({ key }) => key);

  it("are declared once, and none is a section of others", () => {
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(keys.filter((other) => other.startsWith(`${key}.`))).toEqual([]);
  });

  it("are those of the reference, or nested snake_case", () => {
    const ofReference = [
      "requiresAuthentication",
      "persistence.dataPath",
      "auto_schema.defaultString",
      "auto_schema.defaultNumber",
      "auto_schema.defaultDate",
      "cluster.gossipBindPort",
      "cluster.dataBindPort",
    ];
    for (const key of keys)
      if (!ofReference.includes(key)) expect(key).toMatch(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/);
  });

  it("know every key that the reference documents", () => {
    const ofReference = `name debug query_defaults.limit query_maximum_results contextionary.url origin persistence.dataPath
      authentication.anonymous_access.enabled authentication.oidc.enabled authentication.oidc.issuer
      authentication.oidc.client_id authentication.oidc.skip_client_id_check authentication.oidc.username_claim
      authentication.oidc.groups_claim authorization.admin_list.enabled authorization.admin_list.users
      authorization.admin_list.read_only_users default_vectorizer_module enable_modules modules_path auto_schema.enabled
      auto_schema.defaultString auto_schema.defaultNumber auto_schema.defaultDate cluster.hostname
      cluster.gossipBindPort cluster.dataBindPort cluster.join requiresAuthentication`;
    for (const key of ofReference.split(/\s+/)) expect(keys).toContain(key);
  });
});
