import { environmentSource, readConfiguration } from "@shoal/service-runtime";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { addServeFlags, checkScheme, flagSource, type ServeFlags } from "./serve-flags.js";

/** What the options and variables say together. */
function configured(options: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const command = addServeFlags(new Command());
  command.parse(options, { from: "user" });
  return readConfiguration([flagSource(command.opts<ServeFlags>()), environmentSource(variables)], () => {});
}

describe("the options of serve", () => {
  it("stand for settings and win over variables", () => {
    const variables = { PORT: "1", BATCH_TIMEOUT_SECONDS: "7", REQUEST_TIMEOUT_SECONDS: "8" };
    expect(configured([], variables)).toMatchObject({ port: 1, batchTimeoutSeconds: 7, requestTimeoutSeconds: 8 });
    expect(
      configured(
        [
          ...["--host", "0.0.0.0", "--port", "2", "--scheme", "http", "--read-timeout", "40s"],
          ...["--write-timeout=90s", "--keep-alive", "3m", "--max-header-size", "1MiB", "--graceful-timeout", "1m30s"],
        ],
        variables,
      ),
    ).toMatchObject({
      host: "0.0.0.0",
      port: 2,
      bodyTimeoutSeconds: 40,
      batchTimeoutSeconds: 90,
      requestTimeoutSeconds: 90,
      keepAliveSeconds: 180,
      requestHeaderBytesMax: 1_048_576,
      drainTimeoutSeconds: 90,
    });
  });

  it("know https where there is a certificate, and refuse a scheme that the port does not speak", () => {
    const files = ["--tls-certificate", "cert.pem", "--tls-key", "key.pem"];
    const encrypted = configured(files, { TLS_KEY_FILE: "other.pem" });
    expect(encrypted).toMatchObject({ tlsCertFile: "cert.pem", tlsKeyFile: "key.pem" });
    const plain = configured([]);
    checkScheme({ scheme: "https" }, encrypted);
    checkScheme({ scheme: "http" }, plain);
    for (const one of [plain, encrypted]) checkScheme({}, one);
    expect(() => checkScheme({ scheme: "http" }, encrypted)).toThrow("--scheme http cannot be had while TLS_CERT_FILE");
    expect(() => checkScheme({ scheme: "https" }, plain)).toThrow("--scheme https cannot be had without TLS_CERT_FILE");
  });

  it.each([
    ["1h", 3_600],
    ["1h0m1.5s", 3_602],
    ["500ms", 1],
    ["1000ms", 1],
    ["1.1s900ms", 2],
    ["0.2s2.2s0.6s", 3],
    [".5m", 30],
    ["1000000us", 1],
    ["3.0000000001s", 3],
  ])("take the duration %s for %d seconds", (text, seconds) => {
    expect(configured(["--write-timeout", text]).batchTimeoutSeconds).toBe(seconds);
  });

  it.each([
    ["65536", 65_536],
    ["64KiB", 65_536],
    ["64kb", 64_000],
    ["1M", 1_000_000],
    ["0.5 MiB", 524_288],
  ])("take the size %s for %d bytes", (text, bytes) => {
    expect(configured(["--max-header-size", text]).requestHeaderBytesMax).toBe(bytes);
  });

  it.each([
    ["--write-timeout", "90", '--write-timeout must be a duration such as 90s or 1m30s, got "90"'],
    ["--write-timeout", "", '--write-timeout must be a duration such as 90s or 1m30s, got ""'],
    ["--keep-alive", "1d", '--keep-alive must be a duration such as 90s or 1m30s, got "1d"'],
    ["--graceful-timeout", "0s", '--graceful-timeout in seconds must be a whole number from 1 to 86400, got "0"'],
    ["--read-timeout", "48h", '--read-timeout in seconds must be a whole number from 1 to 86400, got "172800"'],
    ["--max-header-size", "1MiBs", '--max-header-size must be a size such as 65536, 64KiB or 1MiB, got "1MiBs"'],
    ["--max-header-size", "1", '--max-header-size in bytes must be a whole number from 8192 to 1048576, got "1"'],
    ["--port", "x", '--port must be a whole number from 0 to 65535, got "x"'],
  ])("refuse %s %s", (option, text, message) => {
    expect(() => configured([option, text])).toThrow(message);
  });
});
