/** What may be done to the objects of a class. */
export type DataAction = "create_data" | "read_data" | "update_data" | "delete_data";

/**
 * What whoever asks may do to the objects of classes. A class none of whose objects he may touch in any way is as if it were not
 * there.
 */
export interface ClassRights {
  /** Whether he may do anything to objects of the class. */
  mayKnow(className: string): boolean;
  mayRead(className: string): boolean;
  /** Fails with `forbidden`. */
  require(action: DataAction | "create_collections" | "update_collections", className: string): void;
}
