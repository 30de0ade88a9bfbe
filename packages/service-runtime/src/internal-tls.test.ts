import { describe, expect, it } from "vitest";
import { readConfiguration } from "./configuration.js";
import { internalTlsFiles } from "./internal-tls.js";
import { environmentSource } from "./setting.js";

const FILES = { INTERNAL_TLS_CA_FILE: "ca.pem", INTERNAL_TLS_CERT_FILE: "cert.pem", INTERNAL_TLS_KEY_FILE: "key.pem" };
const LOOPBACK = ["127.0.0.1", "127.0.0.1:7100", "[::1]:7100", "::1", "localhost:7100", "127.8.9.10"];
const OUTSIDE = ["0.0.0.0", "::", "10.0.0.1:7100", "coordinator:7100", "[fe80::1]:7100", "localhost.example.com:1"];

function files(environment: Record<string, string>, hosts: readonly string[]) {
  return internalTlsFiles(
    readConfiguration([environmentSource(environment)], () => {}),
    hosts,
  );
}

describe("internalTlsFiles", () => {
  it("are none where no other machine can come in", () => {
    expect(files({}, LOOPBACK)).toBeUndefined();
    expect(files({ INTERNAL_TLS: "auto" }, LOOPBACK)).toBeUndefined();
  });

  it("are used where they are named, on one machine too", () => {
    expect(files(FILES, LOOPBACK)).toMatchObject({ keyFile: "key.pem" });
    expect(() => files({ INTERNAL_TLS_CA_FILE: "ca.pem" }, LOOPBACK)).toThrow(
      "INTERNAL_TLS_CERT_FILE, INTERNAL_TLS_KEY_FILE must be set, because others of them are set",
    );
  });

  it.each(OUTSIDE)("are needed as soon as one host is %s", (host) => {
    expect(files(FILES, [...LOOPBACK, host])).toEqual({ caFile: "ca.pem", certFile: "cert.pem", keyFile: "key.pem" });
    expect(() => files({}, [...LOOPBACK, host])).toThrow(
      `INTERNAL_TLS_CA_FILE, INTERNAL_TLS_CERT_FILE, INTERNAL_TLS_KEY_FILE must be set, because '${host}' can be reached`,
    );
    expect(() => files({ ...FILES, INTERNAL_TLS_KEY_FILE: "" }, [host])).toThrow(/^INTERNAL_TLS_KEY_FILE must be set/);
  });

  it("are what INTERNAL_TLS says, whatever the hosts", () => {
    expect(files({ ...FILES, INTERNAL_TLS: "off" }, OUTSIDE)).toBeUndefined();
    expect(files({ ...FILES, INTERNAL_TLS: "on" }, LOOPBACK)).toMatchObject({ caFile: "ca.pem" });
    expect(() => files({ INTERNAL_TLS: "on" }, LOOPBACK)).toThrow("because INTERNAL_TLS is on");
  });
});
