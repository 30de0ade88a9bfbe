import { ShoalError } from "@shoal/model";
import type { Configuration, SettingSource } from "@shoal/service-runtime";
import { type Command, Option } from "commander";

/** Options of `serve` by their names in camel case, as they were written. */
export type ServeFlags = Readonly<Record<string, string | undefined>>;

/** An option that says what settings say. */
interface Flag {
  readonly name: string;
  readonly value: "address" | "file" | "number" | "duration" | "size";
  readonly variables: readonly string[];
}

/** All but the first two are those of the reference (reference-rest 8.2), for deployments that were written for it. */
const FLAGS: readonly Flag[] = [
  { name: "host", value: "address", variables: ["HOST"] },
  { name: "port", value: "number", variables: ["PORT"] },
  { name: "read-timeout", value: "duration", variables: ["HTTP_BODY_TIMEOUT_SECONDS"] },
  // There one time-out is for all responses.
  { name: "write-timeout", value: "duration", variables: ["BATCH_TIMEOUT_SECONDS", "REQUEST_TIMEOUT_SECONDS"] },
  { name: "keep-alive", value: "duration", variables: ["HTTP_KEEP_ALIVE_SECONDS"] },
  { name: "max-header-size", value: "size", variables: ["REQUEST_HEADER_BYTES_MAX"] },
  { name: "graceful-timeout", value: "duration", variables: ["DRAIN_TIMEOUT_SECONDS"] },
  { name: "tls-certificate", value: "file", variables: ["TLS_CERT_FILE"] },
  { name: "tls-key", value: "file", variables: ["TLS_KEY_FILE"] },
];

const EXAMPLES = { address: "", file: "", number: "", duration: ", e.g. 90s or 1m30s", size: ", e.g. 1MiB" } as const;

export function addConfigFileFlag(command: Command): Command {
  return command.option("--config-file <path>", "YAML or JSON file with settings; variables win over it");
}

export function addServeFlags(command: Command): Command {
  addConfigFileFlag(command);
  for (const { name, value, variables } of FLAGS) {
    command.option(`--${name} <${value}>`, `wins over ${variables.join(" and ")}${EXAMPLES[value]}`);
  }
  // Compose files that were written for the reference name it.
  const scheme = new Option(
    "--scheme <scheme>",
    "https where TLS_CERT_FILE is set, else http; anything else is an error",
  );
  return command.addOption(scheme.choices(["http", "https"]));
}

/** Fails with `invalid` where `--scheme` names one that the port does not speak. */
export function checkScheme({ scheme }: ServeFlags, { tlsCertFile }: Pick<Configuration, "tlsCertFile">): void {
  const isEncrypted = tlsCertFile !== undefined;
  if (scheme === undefined || (scheme === "https") === isEncrypted) return;
  const reason = isEncrypted ? "while TLS_CERT_FILE is set" : "without TLS_CERT_FILE and TLS_KEY_FILE";
  throw new ShoalError("invalid", `--scheme ${scheme} cannot be had ${reason}`);
}

/** The options as settings. They win over variables, and those over the file. */
export function flagSource(flags: ServeFlags): SettingSource {
  return ({ variable }) => {
    const flag = FLAGS.find(({ variables }) => variables.includes(variable));
    const text = flag && flags[flag.name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
    return flag === undefined || text === undefined ? undefined : found(flag, text);
  };
}

/** The value in the unit of the setting; the place says which one that is where the option has its own. */
function found({ name, value }: Flag, text: string) {
  if (value === "duration") return { value: String(secondsOf(name, text)), place: `--${name} in seconds` };
  if (value === "size") return { value: String(bytesOf(name, text)), place: `--${name} in bytes` };
  return { value: text, place: `--${name}` };
}

const SECONDS: ReadonlyMap<string, number> = new Map([
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
  ["ms", 1e-3],
  ["us", 1e-6],
  ["µs", 1e-6],
  ["ns", 1e-9],
]);

const DURATION_PART = /(\d+\.?\d*|\.\d+)(h|ms|m|s|us|µs|ns)/g;

/** A duration as Go writes it, in whole seconds, rounded up: our settings know no parts of one. */
function secondsOf(name: string, text: string): number {
  const parts = [...text.matchAll(DURATION_PART)];
  if (text === "" || parts.map(([part]) => part).join("") !== text) {
    throw new ShoalError("invalid", `--${name} must be a duration such as 90s or 1m30s, got ${quoted(text)}`);
  }
  const seconds = parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (SECONDS.get(unit) ?? 0), 0);
  // 0.2 + 2.2 + 0.6 is a little more than 3 to a computer, and would be rounded up to 4.
  return Math.ceil(Number(seconds.toFixed(9)));
}

/** Sizes mean powers of 1024 with `i` and powers of 1000 without, as units are written. */
const BYTES: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["b", 1],
  ["k", 1_000],
  ["kb", 1_000],
  ["kib", 1_024],
  ["m", 1_000_000],
  ["mb", 1_000_000],
  ["mib", 1_048_576],
]);

function bytesOf(name: string, text: string): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?) ?([A-Za-z]*)$/.exec(text) ?? [];
  const bytes = BYTES.get(unit.toLowerCase());
  if (amount === undefined || bytes === undefined) {
    throw new ShoalError("invalid", `--${name} must be a size such as 65536, 64KiB or 1MiB, got ${quoted(text)}`);
  }
  return Math.floor(Number(amount) * bytes);
}

function quoted(text: string): string {
  return JSON.stringify(text.length <= 200 ? text : `${text.slice(0, 200)}…`);
}
