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
      wireProfile: "spec",
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
    ["LOG_LEVEL", "loud", 'LOG_LEVEL must be one of trace, debug, info, warning, warn, error, fatal, got "loud"'],
    ["BATCH_TIMEOUT_SECONDS", "0", 'BATCH_TIMEOUT_SECONDS must be a whole number from 1 to 86400, got "0"'],
    ["DEFAULT_VECTORIZER_MODULE", "x", 'DEFAULT_VECTORIZER_MODULE must be one of none, got "x"'],
    ["REQUEST_BODY_BYTES_MAX", "9".repeat(30), `REQUEST_BODY_BYTES_MAX must be a whole number from 1024 to 524288000`],
  ])("refuses %s=%s in one line", (variable, value, message) => {
    expect(() => read({ [variable]: value })).toThrow(message);
  });

  it("cuts the slash at the end of the origin, which links bring themselves", () => {
    expect(read({ ORIGIN: "https://db.example.com/" }).origin).toBe("https://db.example.com");
  });

  it.each([
    ["ENABLE_MODULES", "text2vec-contextionary"],
    ["CLUSTER_JOIN", "node1:7946"],
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
      ENABLE_MODULES: "",
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
