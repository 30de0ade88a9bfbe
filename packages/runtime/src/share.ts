/**
 * For whom something is taken. Owners get equal parts, whatever number of connections they open; within an owner its
 * connections get equal parts.
 */
export interface Share {
  /** A user, or the address of a client without a name. */
  readonly owner: string;
  readonly connection: number;
}

/** Of work that no client asked for. */
export const NOBODY: Share = { owner: "", connection: 0 };
