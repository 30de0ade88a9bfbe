import type { Clock, Configuration, Logger } from "@shoal/service-runtime";

export interface ServeOptions {
  readonly configuration: Configuration;
  /** `CLUSTER_HOSTNAME` when it was set. */
  readonly configuredNodeName: string | undefined;
  readonly shoalVersion: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told when a store can no longer be closed in the ordinary way: the process must end by `endAfterStoreFailure`. */
  readonly onStoreFailure: () => void;
  /** Told the address once requests are answered. */
  readonly onListening: (url: string) => void;
}
