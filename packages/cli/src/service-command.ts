import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ShoalError } from "@shoal/model";
import { messageInFull } from "@shoal/rpc";
import { POOL_THREADS_MAX, poolThreads } from "@shoal/runtime";
import {
  configurationFileSource,
  createLogger,
  EXIT_FAILURE,
  environmentSource,
  memoryLimit,
  type ProcessHost,
  type ResourceScope,
  readConfiguration,
  refuseMisspelledVariables,
  runProcess,
  type Service,
  type ServiceCommand,
  type SettingSource,
  systemClock,
  warnOfUnbuiltVariables,
} from "@shoal/service-runtime";
import type { Command } from "commander";
import { describeSettings } from "./describe-settings.js";
import type { ProcessOptions } from "./process-options.js";
import { checkScheme, flagSource, type ServeFlags } from "./serve-flags.js";

/** Builds a service in a scope; aborted when the process has to stop while it starts. */
export type StartService = (options: ProcessOptions, scope: ResourceScope, stopping: AbortSignal) => Promise<Service>;

/** What suits a person who looks at the output. */
const terminalDefaults: SettingSource = ({ variable }) =>
  variable === "LOG_FORMAT" && process.stderr.isTTY ? { value: "text", place: "the terminal" } : undefined;

/**
 * Has `command` run a service until a signal. `load` brings in the modules that this role needs, and no others; its `--help`
 * lists the settings that `name` reads.
 */
export function runsService(
  name: ServiceCommand,
  command: Command,
  shoalVersion: string,
  load: () => Promise<StartService>,
  onListening: (url: string) => void = () => undefined,
): void {
  command
    .addHelpText("after", () => `\n${describeSettings(name)}`)
    .action((flags: ServeFlags) => {
      endWithLauncher();
      let exit: (code: number) => void = (code) => process.exit(code);
      // The process, ended in the way that a failed store needs.
      const host: ProcessHost = {
        on: (event, listener) => process.on(event, listener),
        off: (event, listener) => process.off(event, listener),
        exit: (code) => exit(code),
        stderr: process.stderr,
      };
      return runProcess(host, async (scope, stopping) => {
        const { configuration, warnings } = await configure(name, flags);
        const logger = createLogger(configuration, process.stderr);
        const { configurationName } = configuration;
        if (flags.configFile !== undefined || configurationName !== "") {
          logger.info({ file: flags.configFile, name: configurationName }, "configured");
        }
        for (const message of warnings) logger.warn({}, message);
        const start = await load();
        return start(
          {
            configuration,
            configuredNodeName: configuration.nodeName,
            shoalVersion,
            gitHash: gitHash(),
            clock: systemClock,
            logger,
            onStoreFailure: (end) => {
              exit = end;
            },
            onListening,
          },
          scope,
          stopping,
        );
      });
    });
}

/**
 * A launcher holds a channel to the processes that it starts, so that they end in order when it is gone, however it went;
 * nobody reads what they print then.
 */
function endWithLauncher(): void {
  if (process.channel === undefined) return;
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

/** Runs a command that is no service; a failure is one line and exit code 1. */
export async function inOneLine(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (thrown) {
    process.stderr.write(`shoal: ${messageInFull(thrown)}\n`);
    process.exitCode = EXIT_FAILURE;
  }
}

/** What command line, variables and file say together, and what in it is probably not meant. */
export async function configure(command: ServiceCommand, { configFile, ...flags }: ServeFlags) {
  refuseMisspelledVariables(process.env);
  checkThreadPool(process.env);
  const sources = [
    flagSource(flags),
    environmentSource(process.env),
    ...(configFile === undefined ? [] : [await configurationFileSource(configFile)]),
    terminalDefaults,
  ];
  const warnings: string[] = [];
  warnOfUnbuiltVariables(process.env, (message) => warnings.push(message));
  const configuration = readConfiguration(sources, (message) => warnings.push(message), memoryLimit(), command);
  checkScheme(flags, configuration);
  return { configuration, warnings };
}

/**
 * Fails with `invalid` when `UV_THREADPOOL_SIZE` is no number of threads: libuv takes what it cannot read for one thread, on which
 * everything would wait for everything.
 */
export function checkThreadPool(environment: NodeJS.ProcessEnv): void {
  if (poolThreads(environment) !== undefined) return;
  const { UV_THREADPOOL_SIZE: wanted } = environment;
  throw new ShoalError(
    "invalid",
    `UV_THREADPOOL_SIZE is '${wanted}', it must be a whole number from 1 to ${POOL_THREADS_MAX}: the threads that read and write files`,
  );
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const HASH = /^[0-9a-f]{40}$/;

/**
 * The commit that this was built of: from the file `GIT_HASH` beside `packages` (images have it) or else from the
 * repository that it lies in; "" when neither is there.
 */
export function gitHash(root: string = ROOT): string {
  const given = read(join(root, "GIT_HASH"));
  if (HASH.test(given)) return given;
  const git = join(root, ".git");
  const head = read(join(git, "HEAD"));
  const [, name] = /^ref: (\S+)$/.exec(head) ?? [];
  if (name === undefined) return HASH.test(head) ? head : "";
  const loose = read(join(git, name));
  if (HASH.test(loose)) return loose;
  const packed = read(join(git, "packed-refs"))
    .split("\n")
    .find((line) => line.endsWith(` ${name}`));
  return packed === undefined ? "" : packed.slice(0, packed.indexOf(" "));
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
