import { ShoalError } from "@shoal/model";
import { EXIT_FAILURE, systemClock } from "@shoal/service-runtime";
import type { Command } from "commander";
import { KNOWN_ACCESS, KNOWN_SCHEMA } from "../json-file-memory.js";
import { KNOWN_COPIES } from "../known-copies.js";
import { addConfigFileFlag, type ServeFlags } from "../serve-flags.js";
import { configure, inOneLine } from "../service-command.js";
import { ROLES, readCertificateRequest } from "./certificate-request.js";
import type { StatusSource } from "./cluster-status.js";
import type { RestoredCopies } from "./restored-copies.js";
import type { FileOwner } from "./write-certificates.js";

/** `shoal cluster …`: what a person does for a cluster, beside starting its processes. */
export function addClusterCommands(program: Command): void {
  const cluster = program
    .command("cluster")
    .description("Certificates of a cluster, how its processes are, and which storage nodes it has.");
  cluster
    .command("certs")
    .description("Makes an authority and certificates for mutual TLS between processes; renews those that are there.")
    .requiredOption(
      "--out <folder>",
      "where a folder for each process is written, and the authority, unless --authority is given",
    )
    .requiredOption("--name <process...>", `name:role:host,… of each process; roles: ${ROLES.join(", ")}`)
    .option("--authority <folder>", "where the authority and its key are, apart from the certificates")
    .option("--owner <user:group>", "numbers of the user and group that the processes run as; needs root")
    .option("--days <number>", "how long the certificates are good for", "365")
    .action((options: CertificateFlags) =>
      inOneLine(async () => {
        const days = Number(options.days);
        if (!/^\d{1,4}$/.test(options.days) || days < 1) {
          throw new ShoalError("invalid", `--days must be a whole number from 1 to 9999, got ${options.days}`);
        }
        const requests = options.name.map(readCertificateRequest);
        const { writeCertificates } = await import("./write-certificates.js");
        const { out, authority } = options;
        const settings = { days, nowMs: Date.now(), authority, owner: readOwner(options.owner) };
        const written = await writeCertificates(out, requests, settings);
        process.stdout.write(written.map((folder) => `${folder}/ca.pem cert.pem key.pem\n`).join(""));
      }),
    );
  cluster
    .command("status")
    .description("How the processes and storage nodes of a cluster are, as a table; exit code 1 unless all are well.")
    .option("--target <url>", "a gateway")
    .option("--file <cluster.json>", "the file that `npm run cluster` writes into its folder")
    .option("--token <token>", "for gateways that ask for one")
    .action((source: StatusSource) =>
      inOneLine(async () => {
        const { clusterStatus, statusTable } = await import("./cluster-status.js");
        const rows = await clusterStatus(source);
        process.stdout.write(`${statusTable(rows)}\n`);
        if (!rows.every(({ isWell }) => isWell)) process.exitCode = EXIT_FAILURE;
      }),
    );
  addConfigFileFlag(cluster.command("remove"))
    .description("Takes out a storage node that has no shards and is stopped for good; as a gateway, by its settings.")
    .argument("<node>", "its name")
    .action((name: string, flags: ServeFlags) =>
      inOneLine(async () => {
        const { configuration } = await configure("gateway", flags);
        const { removeNode } = await import("./remove-node.js");
        await removeNode(name, configuration, () => systemClock.now());
        process.stdout.write(`storage node '${name}' is removed\n`);
      }),
    );
  addConfigFileFlag(cluster.command("restore-schema"))
    .description(
      "Brings the schema, who holds the copies of shards, and roles and users back into the empty store of coordinators, from what " +
        `gateways, storage nodes and servers remember in '${KNOWN_SCHEMA}', '${KNOWN_COPIES}' and '${KNOWN_ACCESS}' of their data ` +
        "folders; as a gateway, by its settings. Name the folders of all storage nodes.",
    )
    .requiredOption("--from <folder...>", "data folders, or copies of that file: the newest of one cluster is taken")
    .option(
      "--data-path <folder>",
      "the data folder of a stopped coordinator or server, in place of running coordinators",
    )
    .action(({ from, dataPath, ...flags }: RestoreOptions) =>
      inOneLine(async () => {
        const { configuration } = await configure("gateway", flags);
        const { restoreSchema } = await import("./restore-schema.js");
        const { schema, access, copies } = await restoreSchema(from, configuration, dataPath);
        const { clusterId, version, classes } = schema;
        const names = classes.map(({ definition }) => definition.class).join(", ") || "none";
        const roles =
          access === undefined
            ? "no roles and users are known there"
            : `version ${access.version} of roles and users is back, ${access.entries.size} entries`;
        process.stdout.write(
          `version ${version} of the schema of cluster '${clusterId}' is back, classes: ${names}\n${roles}\n`,
        );
        for (const line of describeCopies(copies)) process.stdout.write(`${line}\n`);
      }),
    );
  addConfigFileFlag(cluster.command("restore-copies"))
    .description(
      "Brings who holds the copies of shards up to what storage nodes and gateways remember in " +
        `'${KNOWN_COPIES}' of their data folders, after the coordinators' store was put back from a backup; as a gateway, by its settings. ` +
        "Name the folders of all storage nodes. What the store knows later stays.",
    )
    .requiredOption("--from <folder...>", "data folders: of each shard the newest is taken")
    .action(({ from, ...flags }: RestoreOptions) =>
      inOneLine(async () => {
        const { configuration } = await configure("gateway", flags);
        const { restoreCopies } = await import("./restore-schema.js");
        for (const line of describeCopies(await restoreCopies(from, configuration))) process.stdout.write(`${line}\n`);
      }),
    );
}

function describeCopies({ configurations, lostClasses, unaskedNodes }: RestoredCopies): readonly string[] {
  const lines: string[] = [];
  if (configurations.length > 0)
    lines.push(`who holds the copies of ${configurations.length} shards is known to the store`);
  if (unaskedNodes.length > 0) {
    lines.push(
      `of storage nodes ${unaskedNodes.join(", ")} no folder was given: they are primary of some of these shards, and may have ` +
        "known of a later change. Shards whose copies then do not agree take no writes",
    );
  }
  if (lostClasses.length > 0) {
    lines.push(
      `no folder knows who holds the copies of classes ${lostClasses.join(", ")}: they take no writes, and can be deleted and ` +
        "imported anew",
    );
  }
  return lines;
}

interface CertificateFlags {
  readonly out: string;
  readonly name: readonly string[];
  readonly days: string;
  readonly authority?: string;
  readonly owner?: string;
}

function readOwner(text: string | undefined): FileOwner | undefined {
  if (text === undefined) return undefined;
  const [, user = "", group = ""] = /^(\d{1,9}):(\d{1,9})$/.exec(text) ?? [];
  if (group === "")
    throw new ShoalError("invalid", `--owner must be two numbers, user:group, got ${JSON.stringify(text)}`);
  return { user: Number(user), group: Number(group) };
}

type RestoreOptions = { readonly from: readonly string[]; readonly dataPath?: string; readonly configFile?: string };
