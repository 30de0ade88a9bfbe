import { type CompareOperator, compareUtf8 } from "@shoal/model";
import { patternTokensOf, type Tokenization, tokensOf } from "../analysis/tokens.js";
import { LikePattern } from "./like-pattern.js";

/** One word of a value that a text is compared with: which tokens satisfy it. */
export interface TokenClause {
  readonly test: (token: string) => boolean;
  /** The only token that does. */
  readonly exact?: string;
  /** What all tokens that do begin with, when that says something. */
  readonly prefix?: string;
  /** All tokens with the prefix do. */
  readonly isPrefix?: boolean;
  /** Ends of a range in the order of UTF-8 bytes; both belong to where to look, not to what matches. */
  readonly from?: string;
  readonly upTo?: string;
}

/** The clauses that one element of a text has to satisfy, each with any of its tokens; none for a value without tokens. */
export function tokenClauses(
  operator: CompareOperator,
  value: string,
  tokenization: Tokenization,
): readonly TokenClause[] {
  if (operator === "Like") return patternTokensOf(value, tokenization).map(likeClause);
  return tokensOf(value, tokenization).map((token) => rangeClause(operator, token));
}

function likeClause(word: string): TokenClause {
  const pattern = new LikePattern(word);
  if (pattern.isPlain) return exactly(word);
  const { prefix, isPrefix } = pattern;
  return { test: (token) => pattern.matches(token), ...(prefix === "" ? {} : { prefix }), isPrefix };
}

function rangeClause(operator: CompareOperator, bound: string): TokenClause {
  switch (operator) {
    case "GreaterThan":
      return { test: (token) => compareUtf8(token, bound) > 0, from: bound };
    case "GreaterThanEqual":
      return { test: (token) => compareUtf8(token, bound) >= 0, from: bound };
    case "LessThan":
      return { test: (token) => compareUtf8(token, bound) < 0, upTo: bound };
    case "LessThanEqual":
      return { test: (token) => compareUtf8(token, bound) <= 0, upTo: bound };
    default:
      return exactly(bound);
  }
}

function exactly(token: string): TokenClause {
  return { test: (other) => other === token, exact: token };
}
