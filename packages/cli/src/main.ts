#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { endAfterStoreFailure } from "@shoal/kv";
import {
  createLogger,
  environmentSource,
  type ProcessHost,
  readConfiguration,
  runProcess,
  systemClock,
} from "@shoal/service-runtime";
import { Command } from "commander";
import { describeSettings } from "./describe-settings.js";
import { serve } from "./serve.js";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

/** What suits a person who looks at the output. */
const terminalDefaults = (variable: string) => (variable === "LOG_FORMAT" && process.stderr.isTTY ? "text" : undefined);

let storeFailed = false;

/** The process, ended in the way that a failed store needs. */
const host: ProcessHost = {
  on: (event, listener) => process.on(event, listener),
  off: (event, listener) => process.off(event, listener),
  exit: (code) => (storeFailed ? endAfterStoreFailure(code) : process.exit(code)),
  stderr: process.stderr,
};

const program = new Command("shoal")
  .description("A sharded vector database with a REST and GraphQL API under /v1.")
  .version(version);

program
  .command("serve")
  .description("Gateway, storage node and coordinator in this process.")
  .addHelpText("after", () => `\nEnvironment variables:\n${describeSettings()}`)
  .action(() =>
    runProcess(host, (scope) => {
      const environment = environmentSource(process.env);
      const configuration = readConfiguration(environment, terminalDefaults);
      return serve(
        {
          configuration,
          configuredNodeName: environment("CLUSTER_HOSTNAME"),
          shoalVersion: version,
          clock: systemClock,
          logger: createLogger(configuration, process.stderr),
          onStoreFailure: () => {
            storeFailed = true;
          },
          onListening: (url) => process.stdout.write(greeting(url)),
        },
        scope,
      );
    }),
  );

/** Where the server is and how to try it. */
function greeting(url: string): string {
  const post = (path: string, body: string) => `curl -H 'content-type: application/json' ${url}${path} -d '${body}'`;
  const object = post("/v1/objects", '{"class":"Word","properties":{"text":"hello"},"vector":[1,0.5]}');
  const query = '{"query":"{Get{Word(nearVector:{vector:[1,0]}){text _additional{certainty}}}}"}';
  return [
    `Shoal ${version} is serving on ${url} (Ctrl-C stops it)`,
    `  store:   ${post("/v1/schema", '{"class":"Word","properties":[{"name":"text","dataType":["text"]}]}')} && ${object}`,
    `  search:  ${post("/v1/graphql", query)}`,
    "",
  ].join("\n");
}

await program.parseAsync();
