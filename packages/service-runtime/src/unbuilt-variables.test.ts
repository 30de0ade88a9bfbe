import { describe, expect, it } from "vitest";
import { SETTINGS } from "./setting-groups.js";
import { UNBUILT_FEATURES } from "./unbuilt-features.js";
import { UNBUILT_VARIABLES, warnOfUnbuiltVariables } from "./unbuilt-variables.js";

function warnings(environment: Readonly<Record<string, string>>): readonly string[] {
  const lines: string[] = [];
  warnOfUnbuiltVariables({ PATH: "/bin", PORT: "8080", ...environment }, (line) => lines.push(line));
  return lines;
}

describe("variables of the reference that do nothing here", () => {
  it.each([
    [
      "QUERY_DEFAULTS_LIMIT_GRAPHQL",
      "50",
      /is not built here \(another limit than 100 .*\): give `limit` in the query$/,
    ],
    ["ASYNC_INDEXING", "true", /is not built here \(indexing after a write is answered\)$/],
    ["DEFAULT_SHARDING_COUNT", "3", /: give `shardingConfig.desiredCount` in the class$/],
    ["GRPC_PORT", "50051", /is not built here \(gRPC for clients\): use REST and GraphQL on PORT$/],
    ["BACKUP_FILESYSTEM_PATH", "/backups", /\(backups over the API\): .*RUNBOOK/],
    ["PROMETHEUS_MONITORING_ENABLED", "TRUE", /: set METRICS_PORT$/],
    ["RAFT_BOOTSTRAP_EXPECT", "3", /: set CLUSTER_EXPECTED_STORAGE_NODES$/],
  ])("%s=%s is one line", (variable, value, message) => {
    const lines = warnings({ [variable]: value });
    expect(lines).toEqual([expect.stringMatching(message)]);
    expect(lines[0]).toMatch(new RegExp(`^${variable} has no effect, `));
  });

  it("are reported one by one, and never with their value", () => {
    const all = Object.fromEntries(UNBUILT_VARIABLES.map(({ variable }) => [variable, "s3cr3t"]));
    const lines = warnings(all);
    expect(lines.map((line) => line.split(" ")[0])).toEqual(UNBUILT_VARIABLES.map(({ variable }) => variable));
    expect(lines.join("\n")).not.toContain("s3cr3t");
  });

  it.each([
    ["ASYNC_INDEXING", "False"],
    ["ASYNC_INDEXING", ""],
    ["QUERY_DEFAULTS_LIMIT_GRAPHQL", " 100 "],
    ["RAFT_BOOTSTRAP_EXPECT", "1"],
    ["GRPC_PORT", "tcp://10.0.0.1:50051"],
  ])("are no news where they ask for nothing: %s=%s", (variable, value) => {
    expect(warnings({ [variable]: value })).toEqual([]);
  });

  it("are no settings, and none is there twice", () => {
    const all = [...SETTINGS, ...UNBUILT_FEATURES, ...UNBUILT_VARIABLES].map(({ variable }) => variable);
    expect(new Set(all).size).toBe(all.length);
  });
});
