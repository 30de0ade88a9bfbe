/** Counts of the GraphQL queries of a gateway. */
export class GraphQlStatistics {
  /** Answered by a prepared query. */
  prepared = 0;
  /** Everything else, refused ones included. */
  plain = 0;
  /** Entries of `errors` in answers. */
  errors = 0;
}
