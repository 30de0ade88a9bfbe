import type { ShardConfiguration } from "@shoal/replication";
import type { ClassRecord, ShardKey } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** Who holds the shards that have copies, as this process knows it. */
export interface CopiesView {
  /** Undefined: the shard has no copies. */
  configurationOf(record: ClassRecord, shardName: string): ShardConfiguration | undefined;
  /** What a node has refused with; taken when it is newer than what is known. */
  learn(shard: ShardKey, configuration: ShardConfiguration): void;
  /** Resolves when it has every change that was made before the call. Fails when nobody can be asked. */
  refresh(context: RequestContext): Promise<void>;
  /** Called with the shards whose configuration may be another one now. */
  onChange(listener: (shards: readonly ShardKey[]) => void): Disposable;
}
