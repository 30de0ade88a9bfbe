import { SERVICE_COMMANDS, SETTINGS } from "@shoal/service-runtime";
import { describe, expect, it } from "vitest";
import { describeSettings } from "./describe-settings.js";

describe("describeSettings", () => {
  const lines = SERVICE_COMMANDS.flatMap((command) => describeSettings(command).split("\n"));

  it("fits in 100 columns", () => {
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    expect(lines.filter((line) => line !== line.trimEnd() || /\u00a0/.test(line))).toEqual([]);
  });

  it("names variable, key, meaning and default of every setting", () => {
    const plain = lines.join("\n").replace(/\s+/g, " ");
    for (const { variable, key, meaning } of SETTINGS) {
      expect(plain).toContain(` ${variable} ${key} ${meaning} Default: `);
    }
    expect(plain).toContain(
      "REQUEST_BODY_BYTES_MAX request.body_bytes_max Largest request body, after decompression. Default: 67108864 (64 MiB), at most 1/8 of MEMORY_BUDGET_BYTES.",
    );
    expect(plain).toContain("CLUSTER_HOSTNAME cluster.hostname Name of this node. Default: the host's name.");
    expect(plain).toContain("Default: (empty).");
  });

  it("names only what a command reads, with its own defaults", () => {
    const text = describeSettings("contextionary");
    expect([...text.matchAll(/^ {2}([A-Z_]+) +\S+$/gm)].map(([, variable]) => variable)).toEqual([
      ...["PERSISTENCE_DATA_PATH", "ALLOWED_HOSTS", "LOG_LEVEL", "LOG_FORMAT", "LOG_DEBUG"],
      ...["METRICS_PORT", "METRICS_HOST"],
      ...["CONFIGURATION_NAME", "MODULE_CACHE_PATH", "INTERNAL_HOST", "INTERNAL_PORT", "INTERNAL_TLS"],
      ...["INTERNAL_TLS_CA_FILE", "INTERNAL_TLS_CERT_FILE", "INTERNAL_TLS_KEY_FILE"],
    ]);
    const plain = text.replace(/\s+/g, " ");
    expect(plain).toContain("INTERNAL_PORT internal.port Port of the same; 0 takes a free one. Default: 9999.");
    expect(plain).toContain("Default: modules below PERSISTENCE_DATA_PATH.");
  });
});
