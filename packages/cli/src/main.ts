#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { endAfterStoreFailure } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import {
  type Configuration,
  createLogger,
  environmentSource,
  type ProcessHost,
  readConfiguration,
  runProcess,
  type SettingSource,
  systemClock,
} from "@shoal/service-runtime";
import { Command } from "commander";
import { describeSettings } from "./describe-settings.js";
import { serve } from "./serve.js";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

/** What suits a person who looks at the output. */
const terminalDefaults: SettingSource = ({ variable }) =>
  variable === "LOG_FORMAT" && process.stderr.isTTY ? { value: "text", place: "the terminal" } : undefined;

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
      const warnings: string[] = [];
      const configuration = readConfiguration([environmentSource(process.env), terminalDefaults], (message) =>
        warnings.push(message),
      );
      const logger = createLogger(configuration, process.stderr);
      for (const message of warnings) logger.warn({}, message);
      refuseUnenforced(configuration);
      return serve(
        {
          configuration,
          configuredNodeName: configuration.nodeName,
          shoalVersion: version,
          clock: systemClock,
          logger,
          onStoreFailure: () => {
            storeFailed = true;
          },
          onListening: (url) => process.stdout.write(greeting(url)),
        },
        scope,
      );
    }),
  );

/** Authentication is read but not enforced yet: a server that was told to keep strangers out must not let them in. */
function refuseUnenforced({ authentication, authorization }: Configuration): void {
  const asked = [
    ...(authentication.oidc === undefined ? [] : ["AUTHENTICATION_OIDC_ENABLED (true) asks for OpenID Connect"]),
    ...(authorization === undefined ? [] : ["AUTHORIZATION_ADMINLIST_ENABLED (true) asks for the admin list"]),
  ];
  if (asked.length > 0) throw new ShoalError("invalid", `${asked.join(", ")}, which this version does not have`);
}

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
