import { afterAll, beforeAll, describe, it } from "vitest";
import type { HttpClient } from "../http-client.js";
import { runSteps } from "./run-steps.js";
import { type Profile, readScenarioFile, type Scenario, type ScenarioFile, scenarioPaths } from "./scenario-file.js";
import { type ScenarioServers, scenarioServers } from "./scenario-servers.js";
import { Scope } from "./scope.js";

const SCHEMES: Readonly<Record<Profile, string>> = { spec: "svc", weaviate: "weaviate" };

/** By default a class has a shard on each storage node. */
const VIRTUAL_PER_SHARD = 128;
/** A server on a busy machine takes its time to start. */
const PREPARE_TIMEOUT_MS = 240_000;

/** Registers every scenario that holds for the profile: a `describe` a file, an `it` a case. */
export function describeScenarios(profile: Profile, servers: ScenarioServers = scenarioServers(profile)): void {
  afterAll(() => servers[Symbol.asyncDispose]());
  const files: ScenarioFile[] = [];
  for (const path of scenarioPaths()) {
    try {
      files.push(readScenarioFile(path, profile));
    } catch (error) {
      it(path, () => {
        throw error;
      });
    }
  }
  // Next to each other: what shares a server.
  files.sort((a, b) => compare(servers.keyOf(a), servers.keyOf(b)) || compare(a.path, b.path));
  for (const file of files) describeFile(file, profile, servers);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function describeFile(file: ScenarioFile, profile: Profile, servers: ScenarioServers): void {
  const scenarios = file.scenarios.filter((one) => (one.profiles ?? file.profiles)?.includes(profile) ?? true);
  if (scenarios.length === 0) return;
  const headers = file.headers ?? {};
  describe.skipIf(!servers.canRun(file))(file.path, () => {
    let http: HttpClient;
    let scope: Scope;
    const prepare = async (): Promise<void> => {
      const server = await servers.open(file);
      http = server.http;
      const { url, hostname, storageNodes } = server;
      const counts = { nodes: storageNodes, virtualShards: storageNodes * VIRTUAL_PER_SHARD };
      scope = new Scope({ profile, scheme: SCHEMES[profile], url, hostname, ...counts, ...file.vars });
      await runSteps(file["set-up"] ?? [], http, scope, headers);
    };
    if (file.isolated !== true) beforeAll(prepare, PREPARE_TIMEOUT_MS);
    for (const scenario of scenarios) {
      const isLeftOut = scenario["one-process"] === true && servers.isCluster;
      for (const { name, vars } of casesOf(scenario)) {
        it.skipIf(isLeftOut)(
          name,
          async () => {
            if (file.isolated === true) await prepare();
            await runSteps(scenario.steps, http, new Scope(vars, scope), headers);
          },
          PREPARE_TIMEOUT_MS,
        );
      }
    }
  });
}

interface Case {
  readonly name: string;
  readonly vars: Readonly<Record<string, unknown>>;
}

/** The scenario once, or once for each of its cases, whose name is the scenario's with its variables filled in. */
function casesOf(scenario: Scenario): readonly Case[] {
  return (scenario.cases ?? [{}]).map((one) => {
    const vars = { ...scenario.vars, ...one };
    const name = scenario.name.replace(/\$\{(\w+)\}/g, (whole, key: string) => {
      if (!(key in vars)) return whole;
      return typeof vars[key] === "string" ? vars[key] : JSON.stringify(vars[key]);
    });
    return { name, vars };
  });
}
