import { hostname } from "node:os";
import { resolve } from "node:path";
import type { Writable } from "node:stream";
import { type AuditSink, auditLine } from "@shoal/gateway";
import { ShoalError } from "@shoal/model";
import type { Metrics, ResourceScope } from "@shoal/service-runtime";
import { gauge, labelledCounter } from "../internal-port.js";
import type { ProcessOptions } from "../process-options.js";
import { AuditBuffer, type AuditOutput } from "./audit-buffer.js";
import { AuditFile } from "./audit-file.js";

/** Where the audit log of a gateway goes, and what it calls the process; undefined when it is off. */
export async function openAuditLog(
  { configuration, configuredNodeName, clock, logger }: ProcessOptions,
  metrics: Metrics | undefined,
  scope: ResourceScope,
): Promise<{ readonly sink: AuditSink; readonly server: string } | undefined> {
  const { auditLog } = configuration;
  if (auditLog === "off") {
    describeAuditMetrics(metrics, undefined);
    return undefined;
  }
  const server = `${configuredNodeName ?? hostname()}:${process.pid}`;
  const output = auditLog === "stdout" ? new AuditStream("stdout", process.stdout) : await openFile(auditLog, scope);
  const dropped = (count: number): string =>
    auditLine(clock.now(), server, { action: "drop_events", outcome: "failed", events: count });
  const buffer = scope.use(new AuditBuffer(output, logger, dropped));
  describeAuditMetrics(metrics, buffer);
  return { sink: buffer, server };
}

/** Fails with `invalid` when the file can be neither opened nor made, but for want of space: that may come. */
async function openFile(path: string, scope: ResourceScope): Promise<AuditOutput> {
  const file = new AuditFile(resolve(path));
  await file.open().catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOSPC") return;
    throw new ShoalError(
      "invalid",
      `AUDIT_LOG '${path}' cannot be opened: ${error.message}; give a file that this process may write, in a folder that is there, or 'stdout' or 'off'`,
      { cause: error },
    );
  });
  // Whoever rotates logs says so by this signal. At a terminal it means that the terminal is gone.
  if (!process.stdin.isTTY) {
    const reopen = (): void => file.reopen();
    process.on("SIGHUP", reopen);
    scope.defer(() => void process.off("SIGHUP", reopen));
  }
  return file;
}

function describeAuditMetrics(metrics: Metrics | undefined, buffer: AuditBuffer | undefined): void {
  if (metrics === undefined) return;
  const lines = "Lines of the audit log by outcome: written, dropped.";
  labelledCounter(metrics, "shoal_audit_lines_total", lines, "outcome", () => buffer?.counts ?? {});
  const waiting = "Lines of the audit log that wait to be written.";
  gauge(metrics, "shoal_audit_buffer_bytes", waiting, () => buffer?.bytes ?? 0);
}

/** A stream of the process, such as stdout: lines are out when it has taken them. */
class AuditStream implements AuditOutput {
  readonly name: string;
  readonly #stream: Writable;

  constructor(name: string, stream: Writable) {
    this.name = name;
    this.#stream = stream;
    // What becomes of a write is known by its callback; an error that nobody hears would end the process.
    stream.on("error", () => undefined);
  }

  append(lines: readonly Buffer[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#stream.write(Buffer.concat(lines), (error) => (error ? reject(error) : resolve(lines.length)));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
