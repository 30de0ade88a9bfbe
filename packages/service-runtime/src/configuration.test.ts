import { describe, expect, it } from "vitest";
import { readConfiguration } from "./configuration.js";
import { environmentSource } from "./setting.js";
import { SETTINGS } from "./setting-groups.js";

function read(environment: Record<string, string>) {
  return readConfiguration([environmentSource(environment)], () => {});
}

describe("configuration", () => {
  it("has the settled defaults", () => {
    expect(read({})).toMatchObject({
      host: "127.0.0.1",
      port: 8080,
      dataPath: "./data",
      origin: "",
      queryDefaultsLimit: 25,
      queryMaximumResults: 10_000,
      defaultVectorizerModule: "none",
      wireProfile: "weaviate",
      batchTimeoutSeconds: 60,
      logFormat: "json",
    });
  });

  it("takes values from the first source that has them, and an empty one for none", () => {
    const file = environmentSource({ PORT: "9000", HOST: "0.0.0.0" });
    expect(readConfiguration([environmentSource({ PORT: "7000", HOST: "" }), file], () => {})).toMatchObject({
      port: 7000,
      host: "0.0.0.0",
    });
  });

  it.each([
    ["PORT", "abc", 'PORT must be a whole number from 0 to 65535, got "abc"'],
    ["PORT", "65536", 'PORT must be a whole number from 0 to 65535, got "65536"'],
    ["PORT", "1e3", 'PORT must be a whole number from 0 to 65535, got "1e3"'],
    ["HOST", "http://x", 'HOST must be a host name or an IP address without scheme and port, got "http://x"'],
    ["QUERY_DEFAULTS_LIMIT", "-1", 'QUERY_DEFAULTS_LIMIT must be a whole number from 0 to 1000000, got "-1"'],
    ["WIRE_PROFILE", "Spec", 'WIRE_PROFILE must be one of spec, weaviate, got "Spec"'],
    ["ORIGIN", "db.example.com", 'ORIGIN must be an absolute http or https URL without query, got "db.example.com"'],
    ["ORIGIN", "ftp://x", 'ORIGIN must be an absolute http or https URL without query, got "ftp://x"'],
    ["CORS_ALLOW_ORIGIN", "app.example.com", "CORS_ALLOW_ORIGIN must be origins"],
    ["CORS_ALLOW_ORIGIN", "*,https://a.example", "CORS_ALLOW_ORIGIN must be origins"],
    ["CORS_ALLOW_ORIGIN", "https://*.example", "CORS_ALLOW_ORIGIN must be origins"],
    ["CORS_ALLOW_ORIGIN", "null", "CORS_ALLOW_ORIGIN must be origins"],
    ["CORS_ALLOW_ORIGIN", "https://a.example/path", "CORS_ALLOW_ORIGIN must be origins"],
    ["ALLOWED_HOSTS", "http://db.lan", "ALLOWED_HOSTS must be host names"],
    ["ALLOWED_HOSTS", "db.lan:8080", "ALLOWED_HOSTS must be host names"],
    ["ALLOWED_HOSTS", "*.lan", "ALLOWED_HOSTS must be host names"],
    ["TLS_CERT_FILE", "cert.pem", "TLS_KEY_FILE must be set where TLS_CERT_FILE is"],
    ["TLS_KEY_FILE", "key.pem", "TLS_CERT_FILE must be set where TLS_KEY_FILE is"],
    ["LOG_LEVEL", "loud", 'LOG_LEVEL must be one of trace, debug, info, warning, warn, error, fatal, got "loud"'],
    ["BATCH_TIMEOUT_SECONDS", "0", 'BATCH_TIMEOUT_SECONDS must be a whole number from 1 to 86400, got "0"'],
    ["COORDINATOR_ADDRESSES", "a:7100,b", "COORDINATOR_ADDRESSES must be at least one host:port with a port from 1"],
    ["COORDINATOR_ADDRESSES", "a:0", "COORDINATOR_ADDRESSES must be at least one host:port"],
    ["COORDINATOR_ADDRESSES", ",", "COORDINATOR_ADDRESSES must be at least one host:port"],
    ["INTERNAL_ADVERTISED_ADDRESS", "::1:7101", "INTERNAL_ADVERTISED_ADDRESS must be host:port"],
    ["ETCD_ENDPOINTS", "ftp://a:2379", "ETCD_ENDPOINTS must be at least one host:port"],
    ["INTERNAL_TLS", "true", 'INTERNAL_TLS must be one of auto, on, off, got "true"'],
    ["CONTEXTIONARY_URL", "http://c11y:9999", "CONTEXTIONARY_URL must be host:port with a port from 1 to 65535, got"],
    ["NER_INFERENCE_API", "ner:8000", "NER_INFERENCE_API must be an absolute http or https URL without query, got"],
    ["ENABLE_MODULES", "none,text-spellcheck", "ENABLE_MODULES must be names separated by commas, or none alone, got"],
    ["ENABLE_MODULES", ",", 'ENABLE_MODULES must be names separated by commas, or none alone, got ","'],
    ["REQUEST_BODY_BYTES_MAX", "9".repeat(30), `REQUEST_BODY_BYTES_MAX must be a whole number from 1024 to 524288000`],
  ])("refuses %s=%s in one line", (variable, value, message) => {
    expect(() => read({ [variable]: value })).toThrow(message);
  });

  it.each([
    [undefined, undefined],
    ["", undefined],
    ["none", []],
    [" none ,", []],
    ["text-spellcheck, text2vec-contextionary", ["text-spellcheck", "text2vec-contextionary"]],
  ])("ENABLE_MODULES=%s is %j: empty is not set, none is no module", (value, names) => {
    expect(read(value === undefined ? {} : { ENABLE_MODULES: value }).enableModules).toEqual(names);
  });

  it("takes lists of addresses, with names and IPv6", () => {
    const environment = {
      COORDINATOR_ADDRESSES: "coordinator-0.svc:7100, [fd00::1]:7100",
      ETCD_ENDPOINTS: "https://etcd:2379,10.0.0.1:2379",
      INTERNAL_ADVERTISED_ADDRESS: "[::1]:7101",
    };
    expect(read(environment)).toMatchObject({
      coordinatorAddresses: ["coordinator-0.svc:7100", "[fd00::1]:7100"],
      etcdEndpoints: ["https://etcd:2379", "10.0.0.1:2379"],
      internalAdvertisedAddress: "[::1]:7101",
    });
  });

  it("says what to set for features that are done another way", () => {
    expect(() => read({ CLUSTER_DATA_BIND_PORT: "7001" })).toThrow("start `shoal storage-node` with INTERNAL_PORT");
  });

  it("takes hosts and origins as browsers write them", () => {
    const { allowedHosts, corsAllowOrigin } = read({
      ALLOWED_HOSTS: "DB.lan, db.lan., fd00:0::1, [::2], 192.0.2.1",
      CORS_ALLOW_ORIGIN: "https://App.example:443/, http://localhost:3000, chrome-extension://ABC",
    });
    expect(allowedHosts).toEqual(["db.lan", "[fd00::1]", "[::2]", "192.0.2.1"]);
    expect(corsAllowOrigin).toEqual(["https://app.example", "http://localhost:3000", "chrome-extension://abc"]);
    expect(read({ ALLOWED_HOSTS: "*", CORS_ALLOW_ORIGIN: "*" })).toMatchObject({
      allowedHosts: ["*"],
      corsAllowOrigin: ["*"],
    });
  });

  it.each([
    ["ALLOWED_HOSTS", ".example.com"],
    ["ALLOWED_HOSTS", "db.lan,a..b"],
    ["CORS_ALLOW_ORIGIN", "https://.example.com"],
  ])("refuses %s=%s, which no host and no page matches", (variable, value) => {
    expect(() => read({ [variable]: value })).toThrow(`${variable} must be `);
  });

  it("cuts the slash at the end of the origin, which links bring themselves", () => {
    expect(read({ ORIGIN: "https://db.example.com/" }).origin).toBe("https://db.example.com");
  });

  it.each([
    ["MODULES_PATH", "./modules"],
    ["CLUSTER_JOIN", "node1:7946"],
    ["REPLICATION_MINIMUM_FACTOR", "3"],
    ["DEFAULT_VECTOR_DISTANCE_METRIC", "dot"],
    ["DEFAULT_QUANTIZATION", "rq-8"],
    ["DEFAULT_TOKENIZATION", "field"],
    ["DISABLE_GRAPHQL", "true"],
    ["OPERATIONAL_MODE", "ReadOnly"],
    ["MAXIMUM_ALLOWED_COLLECTIONS_COUNT", "5"],
  ])("refuses %s=%s, which asks for a feature that is not there", (variable, value) => {
    expect(() => read({ [variable]: value })).toThrow(
      new RegExp(`^${variable} asks for .* does not have.*"${value}"$`),
    );
  });

  it("accepts values that ask for the absence of such a feature", () => {
    read({
      AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true",
      AUTHENTICATION_OIDC_ENABLED: "false",
      AUTHENTICATION_OIDC_ISSUER: "https://issuer",
      AUTHORIZATION_ADMINLIST_ENABLED: "false",
      MODULES_PATH: "",
      REPLICATION_MINIMUM_FACTOR: "1",
      DEFAULT_VECTOR_DISTANCE_METRIC: "cosine",
      DEFAULT_QUANTIZATION: "none",
      DEFAULT_TOKENIZATION: "word",
      DISABLE_GRAPHQL: "false",
      OPERATIONAL_MODE: "ReadWrite",
      MAXIMUM_ALLOWED_COLLECTIONS_COUNT: "-1",
    });
  });

  it("declares each variable once, with a meaning", () => {
    expect(new Set(SETTINGS.map((setting) => setting.variable)).size).toBe(SETTINGS.length);
    for (const setting of SETTINGS) expect(setting.meaning).toMatch(/\.$/);
  });

  it("refuses a default page that no query may have", () => {
    expect(() => read({ QUERY_DEFAULTS_LIMIT: "20000", QUERY_MAXIMUM_RESULTS: "10000" })).toThrow(
      "QUERY_DEFAULTS_LIMIT must be at most QUERY_MAXIMUM_RESULTS, which is 10000, got 20000",
    );
  });
});
