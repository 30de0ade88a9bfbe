/** Where lines of the audit log end up. One call at a time. */
export interface AuditOutput extends AsyncDisposable {
  /** For error texts. */
  readonly name: string;
  /**
   * Appends whole lines, at least one; how many it has appended: fewer when the rest failed. Fails when it has appended none.
   * Called again, it gets the lines that it has not appended yet.
   */
  append(lines: readonly Buffer[]): Promise<number>;
}
