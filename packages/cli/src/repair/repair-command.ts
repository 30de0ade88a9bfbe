import { ShoalError } from "@shoal/model";
import { EXIT_FAILURE, systemClock } from "@shoal/service-runtime";
import type { Command } from "commander";
import { inOneLine } from "../service-command.js";

interface RepairFlags {
  readonly dataPath: string;
  readonly shard?: string;
  readonly schema?: true;
  readonly write?: true;
  readonly json?: true;
}

const PROGRESS_MS = 2_000;

/** `shoal repair`: brings back what can be read of stores that do not open. */
export function addRepairCommand(program: Command): void {
  program
    .command("repair")
    .description(
      "Looks for damage in the stores of a stopped server, and with --write rebuilds damaged ones from what is left.",
    )
    .requiredOption("--data-path <folder>", "the server's data folder (PERSISTENCE_DATA_PATH)")
    .option("--shard <class/shard>", "only this one, by its folders in 'shards'")
    .option("--schema", "only the stores that hold a schema")
    .option(
      "--write",
      "puts repaired stores in the place of damaged ones, which are kept; without it nothing is changed",
    )
    .option("--json", "the report as JSON")
    .addHelpText("after", "\nExit code 0: every store is whole or was mended. 1: one is damaged, or failed.")
    .action((flags: RepairFlags) => inOneLine(() => repair(flags)));
}

async function repair({ dataPath, shard, schema, write, json }: RepairFlags): Promise<void> {
  if (shard !== undefined && schema === true) {
    throw new ShoalError("invalid", "--shard and --schema name different stores: give one of them, or none for all");
  }
  const { repairDataFolder } = await import("./repair-data-folder.js");
  const { reportJson, reportText } = await import("./repair-report.js");
  let reportedMs = systemClock.now();
  const onProgress = (store: string, bytes: number, allBytes: number) => {
    if (systemClock.now() - reportedMs < PROGRESS_MS) return;
    reportedMs = systemClock.now();
    process.stderr.write(`${store}: ${Math.floor(bytes / 2 ** 20)} of ${Math.ceil(allBytes / 2 ** 20)} MiB read\n`);
  };
  const isWritten = write === true;
  const nowMs = systemClock.now();
  const reports = await repairDataFolder({ dataPath, shard, isSchema: schema === true, isWritten, nowMs, onProgress });
  process.stdout.write(json === true ? reportJson(dataPath, isWritten, reports) : reportText(reports));
  if (reports.some(({ state }) => state === "damaged" || state === "failed")) process.exitCode = EXIT_FAILURE;
}
