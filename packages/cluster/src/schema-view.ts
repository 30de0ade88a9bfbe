import type { ClassRecord, SchemaSnapshot } from "@shoal/rpc";

/** The schema as this process knows it, swapped whole at every change. */
export interface SchemaView {
  readonly snapshot: SchemaSnapshot;
  /** Exact name; undefined when there is no such class. */
  classRecord(className: string): ClassRecord | undefined;
  /** Called after every swap, in order. */
  onChange(listener: (snapshot: SchemaSnapshot) => void): Disposable;
}
