import { QUESTION_KINDS, type QuestionKind } from "./make-question.js";

export interface OracleArguments {
  readonly queries: number;
  /** Undefined when none was given. */
  readonly seed: number | undefined;
  readonly kinds: readonly QuestionKind[];
  readonly target: (typeof TARGETS)[number];
}

const TARGETS = ["process", "cluster"] as const;
export const USAGE = `usage: npm run oracle -- [--target ${TARGETS.join("|")}] [--queries 10000] [--seed N] [--kinds ${QUESTION_KINDS.join(",")}]`;
const QUERIES_DEFAULT = 10_000;

/** What stands behind `npm run oracle --`; undefined when it is anything unknown. */
export function readOracleArguments(words: readonly string[]): OracleArguments | undefined {
  let queries = QUERIES_DEFAULT;
  let seed: number | undefined;
  let kinds: readonly QuestionKind[] = QUESTION_KINDS;
  let target: OracleArguments["target"] = "process";
  for (let at = 0; at < words.length; at += 2) {
    const word = words[at + 1] ?? "";
    const value = /^\d{1,9}$/.test(word) ? Number(word) : undefined;
    if (words[at] === "--queries" && value !== undefined && value > 0) queries = value;
    else if (words[at] === "--seed" && value !== undefined) seed = value;
    else if (words[at] === "--target") {
      const named = TARGETS.find((one) => one === word);
      if (named === undefined) return undefined;
      target = named;
    } else if (words[at] === "--kinds") {
      kinds = QUESTION_KINDS.filter((kind) => word.split(",").includes(kind));
      if (kinds.length !== word.split(",").length) return undefined;
    } else return undefined;
  }
  return { queries, seed, kinds, target };
}
