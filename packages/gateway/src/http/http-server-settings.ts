import type { RequestListener } from "node:http";
import type { Clock, ForeignPageSettings, Logger, Metrics } from "@shoal/service-runtime";
import type { AuditLog } from "../audit/audit-log.js";
import type { AccessControl } from "../auth/access.js";
import type { ResponseBudget } from "../response-budget.js";

export interface HttpServerSettings extends Omit<ForeignPageSettings, "isEncrypted"> {
  readonly host: string;
  readonly port: number;
  readonly batchTimeoutSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly requestBodyBytesMax: number;
  readonly requestBodiesBytesMax: number;
  /** Bodies that are read, or wait to be handled; 5,000 when absent. */
  readonly requestBodiesMax?: number | undefined;
  /** Of responses that are made, or that clients have not taken yet. */
  readonly answersBytesMax: number;
  readonly requestHeaderBytesMax: number;
  readonly requestsInFlightMax: number;
  readonly connectionsMax: number;
  readonly headersTimeoutSeconds: number;
  readonly bodyTimeoutSeconds: number;
  /** Time in which a body must get on. */
  readonly bodyStallSeconds: number;
  readonly answerStallSeconds: number;
  /** 0: no request is called slow. */
  readonly slowQueryMs: number;
  readonly keepAliveSeconds: number;
  readonly drainDelaySeconds: number;
  readonly drainTimeoutSeconds: number;
}

/** The certificate of the port, in PEM, and its private key. */
export interface ServerCertificate {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

/** New connections use what is current; those that stand stay. */
export interface ServerCertificateSource {
  current(): ServerCertificate;
  /** Calls `listener` with every later certificate. */
  onChange(listener: (certificate: ServerCertificate) => void): Disposable;
}

/** What an HTTP server needs of others. */
export interface HttpServerParts {
  readonly access: AccessControl;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Hears of what is changed, and refused; absent: nobody asks. */
  readonly audit?: AuditLog | undefined;
  /** Counts the memory of responses, also while they are made; absent: of those that clients have not taken. */
  readonly responses?: ResponseBudget | undefined;
  /** Where it tells of itself. */
  readonly metrics?: Metrics | undefined;
  /** Takes the requests outside of `/v1` that no route takes: pages for people. */
  readonly fallback?: RequestListener | undefined;
  /** Absent: the port speaks plain HTTP. */
  readonly certificate?: ServerCertificateSource | undefined;
}
