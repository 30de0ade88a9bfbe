import { DEFAULT_WHERE_LIMITS, type WhereLimits } from "@shoal/model";
import type { ResponseLimits } from "../response-budget.js";

/** Bounds of one GraphQL request. All act before the step that they protect. */
export interface GraphQlLimits extends ResponseLimits, WhereLimits {
  /** Length of the query text in UTF-16 units. A vector of 65,535 numbers takes about 1.3 million. */
  readonly graphqlQueryCharsMax: number;
  /** Tokens of the text without numbers. */
  readonly graphqlTokensMax: number;
  /**
   * Numbers in the text, mostly those of vectors (65,535 in the longest one); and values in the variables. graphql-js takes
   * more than a microsecond for each, in one go.
   */
  readonly graphqlNumbersMax: number;
  /** Nesting of braces, brackets and parentheses in the text, and of fields once fragments are expanded. */
  readonly graphqlDepthMax: number;
  readonly graphqlAliasesMax: number;
  readonly graphqlFragmentsMax: number;
  /** Fields once fragments are expanded, in all operations and fragments. */
  readonly graphqlFieldsMax: number;
  /** Pairs of fields at one place of the response: validation compares each with each. */
  readonly graphqlFieldPairsMax: number;
  /** Rows that all class fields of a request reach together: the sum of their offsets and limits. */
  readonly graphqlRowsMax: number;
  /** Rows that a class field without a limit counts as. */
  readonly getRowsDefault: number;
  /** Rows that one class field may reach; the query refuses it beyond. */
  readonly getRowsMax: number;
  /** Each row counts once, and once for each class of references that is answered below it, at every depth. */
  readonly graphqlCostMax: number;
  /** Fields of Get and Aggregate, and Explores, of a request. */
  readonly graphqlClassFieldsMax: number;
  /** Requests of one batch. */
  readonly graphqlBatchRequestsMax: number;
  /** Requests of one batch that are answered at the same time. */
  readonly graphqlBatchConcurrencyMax: number;
  /** Prepared queries that are kept for one version of the schema. */
  readonly preparedQueriesMax: number;
  /** Longer templates are not prepared. */
  readonly preparedTemplateBytesMax: number;
}

export const DEFAULT_GRAPHQL_LIMITS: GraphQlLimits = {
  ...DEFAULT_WHERE_LIMITS,
  graphqlQueryCharsMax: 2 * 1024 * 1024,
  graphqlTokensMax: 10_000,
  graphqlNumbersMax: 80_000,
  graphqlDepthMax: 100,
  graphqlAliasesMax: 1_000,
  graphqlFragmentsMax: 100,
  graphqlFieldsMax: 10_000,
  graphqlFieldPairsMax: 100_000,
  graphqlRowsMax: 100_000,
  graphqlCostMax: 1_000_000,
  graphqlClassFieldsMax: 200,
  graphqlBatchRequestsMax: 200,
  graphqlBatchConcurrencyMax: 8,
  getRowsDefault: 100,
  getRowsMax: 10_000,
  answerBytesMax: 256 * 1024 * 1024,
  answersBytesMax: 1024 * 1024 * 1024,
  preparedQueriesMax: 1_000,
  preparedTemplateBytesMax: 8 * 1024,
};
