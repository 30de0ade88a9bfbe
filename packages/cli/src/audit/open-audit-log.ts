import { hostname } from "node:os";
import { resolve } from "node:path";
import { type AuditSink, auditLine } from "@shoal/gateway";
import { ShoalError } from "@shoal/model";
import type { Metrics, ResourceScope } from "@shoal/service-runtime";
import type { ProcessOptions } from "../process-options.js";
import { AuditBuffer } from "./audit-buffer.js";
import { AuditFile } from "./audit-file.js";
import type { AuditOutput } from "./audit-output.js";
import { AuditStream } from "./audit-stream.js";

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
    throw new ShoalError("invalid", `AUDIT_LOG '${path}' cannot be opened: ${error.message}`, { cause: error });
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
  metrics?.counter(
    {
      name: "shoal_audit_lines_total",
      help: "Lines of the audit log by outcome: written, dropped.",
      labelNames: ["outcome"],
    },
    () => Object.entries(buffer?.counts ?? {}).map(([outcome, value]) => ({ labels: { outcome }, value })),
  );
  metrics?.gauge({ name: "shoal_audit_buffer_bytes", help: "Lines of the audit log that wait to be written." }, () => [
    { value: buffer?.bytes ?? 0 },
  ]);
}
