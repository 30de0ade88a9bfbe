import type { RequestListener } from "node:http";
import type { Clock, Logger } from "@shoal/service-runtime";
import type { AccessControl } from "../auth/access.js";

export interface HttpServerSettings {
  readonly host: string;
  readonly port: number;
  readonly batchTimeoutSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly requestBodyBytesMax: number;
  readonly requestBodiesBytesMax: number;
  readonly requestHeaderBytesMax: number;
  readonly requestsInFlightMax: number;
  readonly connectionsMax: number;
  readonly headersTimeoutSeconds: number;
  readonly bodyTimeoutSeconds: number;
  readonly keepAliveSeconds: number;
  readonly drainDelaySeconds: number;
  readonly drainTimeoutSeconds: number;
}

/** What an HTTP server needs of others. */
export interface HttpServerParts {
  readonly access: AccessControl;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes the requests outside of `/v1` that no route takes: pages for people. */
  readonly fallback?: RequestListener | undefined;
}
