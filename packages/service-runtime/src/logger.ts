import { pino } from "pino";
import type { Configuration } from "./configuration.js";
import { redactFields, redactText } from "./redact.js";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** What services write to. The engine below them does not log. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Whether lines of that level are written; absent: all are. For fields that are not worth making otherwise. */
  isEnabled?(level: LogLevel): boolean;
}

/** Where lines go; `process.stderr` in a main. */
export interface LogSink {
  write(line: string): unknown;
}

/**
 * A logger of the configured level and format. Secrets (tokens, passwords, cookies) are printed as `[redacted]`, by name
 * at every depth and inside of texts; values are bounded, and one line stays one line whatever they hold.
 */
export function createLogger(settings: Pick<Configuration, "logLevel" | "logFormat">, sink: LogSink): Logger {
  const level = settings.logLevel === "warning" ? "warn" : settings.logLevel;
  const write = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: redactFields },
      messageKey: "message",
      // An error is a field like any other here: redactFields describes it.
      errorKey: "pinoError",
      serializers: {},
    },
    { write: (line: string) => sink.write(settings.logFormat === "text" ? asText(line) : line) },
  );
  return {
    debug: (fields, message) => write.debug(fields, redactText(message)),
    info: (fields, message) => write.info(fields, redactText(message)),
    warn: (fields, message) => write.warn(fields, redactText(message)),
    error: (fields, message) => write.error(fields, redactText(message)),
    isEnabled: (asked) => write.isLevelEnabled(asked),
  };
}

/** A logger that writes nothing, for tests and tools. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {}, isEnabled: () => false };

/** `12:00:00.000 INFO  message  name=value …`. A text that would break the line or its fields is quoted. */
function asText(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.entries(fields).map(([name, value]) => {
    const plain = typeof value === "string" && /^[^\s"=]+$/.test(value);
    return `  ${name.replace(/\n/g, "\\n")}=${plain ? value : JSON.stringify(value)}`;
  });
  const said = String(message).replace(/\n/g, "\\n");
  return `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${said}${details.join("")}\n`;
}
