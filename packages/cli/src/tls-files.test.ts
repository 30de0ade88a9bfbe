import { silentLogger } from "@shoal/service-runtime";
import { describe, expect, it } from "vitest";
import { tlsFilesOf } from "./tls-files.js";

const HERE = {
  internalHost: "127.0.0.1",
  internalAdvertisedAddress: undefined,
  coordinatorAddresses: ["127.0.0.1:7100"],
  internalTlsCaFile: undefined,
  internalTlsCertFile: undefined,
  internalTlsKeyFile: undefined,
};

function warningsOf(settings: Partial<Parameters<typeof tlsFilesOf>[0]>): readonly string[] {
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) };
  tlsFilesOf({ ...HERE, internalTls: "auto", ...settings }, "storage-node", logger);
  return warnings;
}

describe("S6: processes that talk without TLS", () => {
  it("say so at the start, in one line, on loopback too", () => {
    const expected = [expect.stringMatching(/^without TLS .* `shoal cluster certs` makes certificates$/)];
    expect(warningsOf({})).toEqual(expected);
    expect(warningsOf({ internalTls: "off", internalHost: "0.0.0.0" })).toEqual(expected);
  });

  it("say nothing when they have certificates", () => {
    const files = { internalTlsCaFile: "ca", internalTlsCertFile: "cert", internalTlsKeyFile: "key" };
    expect(warningsOf(files)).toEqual([]);
  });
});
