/** Counts the bytes that the rows of an answer hold. */
export interface RowBytes {
  /** So many more are held, or fewer when it is negative. Fails when there is no room: the read ends then. */
  add(bytes: number): void;
}

/** What bounds a read, beside what it asks for. */
export interface ReadBounds {
  /** Looked at between the turns of a long read. */
  readonly signal?: AbortSignal | undefined;
  /** Asked before rows are read and told how large they were. Nothing is counted when absent. */
  readonly rowBytes?: RowBytes | undefined;
}
