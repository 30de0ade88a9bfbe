import { readFileSync } from "node:fs";
import { Command } from "commander";
import { addClusterCommands } from "./cluster/cluster-commands.js";
import { addRepairCommand } from "./repair/repair-command.js";
import { addConfigFileFlag, addServeFlags } from "./serve-flags.js";
import { runsService } from "./service-command.js";
import { unknownCommand } from "./unknown-command.js";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

const program = new Command("shoal")
  .description("A sharded vector database with a REST and GraphQL API under /v1.")
  .version(version);

runsService(
  "serve",
  addServeFlags(program.command("serve")).description("Gateway, storage node and coordinator in this process."),
  version,
  async () => (await import("./serve.js")).serve,
  (url) => process.stdout.write(greeting(url)),
);
runsService(
  "gateway",
  addServeFlags(program.command("gateway")).description("HTTP in front of the storage nodes of a cluster."),
  version,
  async () => (await import("./start-gateway.js")).startGateway,
);
runsService(
  "storage-node",
  addConfigFileFlag(program.command("storage-node")).description("Keeps a part of the data of a cluster."),
  version,
  async () => (await import("./start-storage-node.js")).startStorageNode,
);
runsService(
  "coordinator",
  addConfigFileFlag(program.command("coordinator")).description("Keeps the schema and the storage nodes of a cluster."),
  version,
  async () => (await import("./start-coordinator.js")).startCoordinator,
);
runsService(
  "contextionary",
  addConfigFileFlag(program.command("contextionary")).description("Word vectors for the gateways of a cluster."),
  version,
  async () => (await import("./start-contextionary-service.js")).startContextionaryService,
);
addClusterCommands(program);
addRepairCommand(program);

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

const unknown = unknownCommand(program, process.argv.slice(2));
if (unknown !== undefined) {
  unknown.command.error(`${unknown.message}\nSee 'shoal help'.`, { exitCode: 1 });
}
await program.parseAsync();
