import { pino } from "pino";
import type { Configuration } from "./configuration.js";

/** What services write to. The engine below them does not log. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where lines go; `process.stderr` in a main. */
export interface LogSink {
  write(line: string): unknown;
}

const SECRETS = ["authorization", "cookie", "password", "token", "access_token", "client_secret"];

/** Members that never reach a log, at the top of a line's fields and one or two levels below. */
const REDACTED = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** A logger of the configured level and format. Secrets (tokens, passwords, cookies) are printed as `[redacted]`. */
export function createLogger(settings: Pick<Configuration, "logLevel" | "logFormat">, sink: LogSink): Logger {
  const level = settings.logLevel === "warning" ? "warn" : settings.logLevel;
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: "message",
      errorKey: "error",
      redact: { paths: REDACTED, censor: "[redacted]" },
      serializers: { error: describeError },
    },
    { write: (line: string) => sink.write(settings.logFormat === "text" ? asText(line) : line) },
  );
}

/** A logger that writes nothing, for tests and tools. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { name: error.name, message: error.message, stack: error.stack, ...cause };
}

/** `12:00:00.000 INFO  message  name=value …`. */
function asText(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.entries(fields).map(([name, value]) => {
    return `  ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  return `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${String(message)}${details.join("")}\n`;
}
