import type { ClassRecord, SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** The schema as this process knows it, swapped whole at every change. */
export interface SchemaView {
  readonly snapshot: SchemaSnapshot;
  /**
   * Resolves when the snapshot holds every change that was answered, by any gateway, before this was called; at once in
   * a process with the coordinator in it. Callers that come while one question is under way share the next. When the
   * coordinator cannot be reached, the known schema stays and it resolves all the same.
   */
  refresh(context: RequestContext): Promise<void>;
  /**
   * Whether the coordinator could not be reached when it was asked last, and has sent nothing since: what the schema lacks may
   * have been made meanwhile. Absent: never.
   */
  readonly isLost?: boolean;
  /** Exact name; undefined when there is no such class. */
  classRecord(className: string): ClassRecord | undefined;
  /** Called after every swap, in order, and when a remembered snapshot is found to be the coordinator's. */
  onChange(listener: (snapshot: SchemaSnapshot) => void): Disposable;
}
