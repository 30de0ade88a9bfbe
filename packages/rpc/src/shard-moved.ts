import { ShoalError, type ShoalErrorOptions } from "@shoal/model";
import type { ShardConfiguration } from "@shoal/replication";

/** Code `moved`: the copy that was asked may not answer this now. Nothing was done, so it may be sent again, to the right one. */
export class ShardMoved extends ShoalError {
  /** Who holds the shard as far as the copy that was asked knows; it may be older than what the caller knows. */
  readonly configuration: ShardConfiguration | undefined;

  constructor(message: string, configuration?: ShardConfiguration, options?: ShoalErrorOptions) {
    super("moved", message, options);
    this.configuration = configuration;
  }
}
