import { readFileSync } from "node:fs";
import { endAfterStoreFailure } from "@shoal/kv";
import {
  configurationFileSource,
  createLogger,
  environmentSource,
  type ProcessHost,
  readConfiguration,
  refuseMisspelledVariables,
  runProcess,
  type SettingSource,
  systemClock,
} from "@shoal/service-runtime";
import { Command } from "commander";
import { describeSettings } from "./describe-settings.js";
import { serve } from "./serve.js";
import { addServeFlags, flagSource, type ServeFlags } from "./serve-flags.js";

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

addServeFlags(program.command("serve"))
  .description("Gateway, storage node and coordinator in this process.")
  .addHelpText("after", () => `\n${describeSettings()}`)
  .action((flags: ServeFlags) =>
    runProcess(host, async (scope) => {
      const { configuration, warnings } = await configure(flags);
      const logger = createLogger(configuration, process.stderr);
      const { configurationName: name } = configuration;
      if (flags.configFile !== undefined || name !== "") logger.info({ file: flags.configFile, name }, "configured");
      for (const message of warnings) logger.warn({}, message);
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

/** What command line, variables and file say together, and what in it is probably not meant. */
async function configure({ configFile, ...flags }: ServeFlags) {
  refuseMisspelledVariables(process.env);
  const sources = [
    flagSource(flags),
    environmentSource(process.env),
    ...(configFile === undefined ? [] : [await configurationFileSource(configFile)]),
    terminalDefaults,
  ];
  const warnings: string[] = [];
  return { configuration: readConfiguration(sources, (message) => warnings.push(message)), warnings };
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
    `  browse:  ${url}/console`,
    "",
  ].join("\n");
}

await program.parseAsync();
