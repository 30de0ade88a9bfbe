import type { Clock, Configuration, Logger } from "@shoal/service-runtime";

/** What every process of ours is started with, whatever its role. */
export interface ProcessOptions {
  readonly configuration: Configuration;
  /** `CLUSTER_HOSTNAME` when it was set. */
  readonly configuredNodeName: string | undefined;
  readonly shoalVersion: string;
  /** The commit that this was built of; "" when nobody knows. */
  readonly gitHash: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when a store can no longer be closed in the ordinary way, with what the process must end by. */
  readonly onStoreFailure: (exit: (code: number) => never) => void;
  /** Called with the public address once requests are answered. */
  readonly onListening: (url: string) => void;
}
