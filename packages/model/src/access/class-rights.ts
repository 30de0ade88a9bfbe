/** What may be done to the objects of a class. */
export type DataAction = "create_data" | "read_data" | "update_data" | "delete_data";

/** What may be done to a class and to its objects. */
export type ClassAction =
  | DataAction
  | "create_collections"
  | "read_collections"
  | "update_collections"
  | "delete_collections";

/** Whose rights they are, as plain data: what he may do later is looked up by it. */
export interface RightsHolder {
  readonly username: string;
  readonly groups: readonly string[];
  readonly userType: "anonymous" | "db" | "oidc";
  /** When a user was made that is made at run time, milliseconds since 1970: one of the same name that is made later is another one. */
  readonly sinceMs?: number | undefined;
}

/**
 * What whoever asks may do to classes and their objects. A class none of whose objects he may touch in any way is as if it were
 * not there. Names of classes count as they are stored, whatever the case of their first letter.
 */
export interface ClassRights {
  readonly holder: RightsHolder;
  /** Whether he may do anything to objects of the class. */
  mayKnow(className: string): boolean;
  mayRead(className: string): boolean;
  may(action: ClassAction, className: string): boolean;
  /** Fails with `forbidden`. */
  require(action: ClassAction, className: string): void;
  /** Whether he may be told of the class's shards. */
  maySeeShards(className: string): boolean;
}
