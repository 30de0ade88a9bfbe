/** What a vector index has measured of its own searches. */
export interface MeasuredRecall {
  /** The share of the ten nearest that searches are to find, on average. */
  readonly target: number;
  /** What searches of the sample find, and the standard error of that mean. 1 and 0 where rows are scanned. */
  readonly recall: number;
  readonly error: number;
  /** Candidates that a search for ten results keeps on average; 0 where rows are scanned. */
  readonly candidates: number;
  /** Queries of the sample, and whether clients asked them or they were made from rows. */
  readonly sample: number;
  readonly queries: "asked" | "rows";
  /** Nodes that the graph had. */
  readonly linked: number;
  /** Unix time in milliseconds. */
  readonly measuredAtMs: number;
}
