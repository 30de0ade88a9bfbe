import type { CompareOperator, Json } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import { type Tokenization, tokensOf } from "../analysis/tokens.js";
import { DocumentSet } from "../document-set.js";
import { readProperty } from "../read-property.js";
import type { PropertyIndex } from "../stored/property-index.js";
import type { Comparison, FilterContext } from "./filter-context.js";
import { documentsOfToken, selectTokens } from "./select-tokens.js";
import { type TokenClause, tokenClauses } from "./token-clause.js";

/** The documents whose texts compare so; operators of one value, and `ContainsAny`, `ContainsAll`. */
export function* selectTexts(context: FilterContext, index: PropertyIndex, comparison: Comparison): Work<DocumentSet> {
  const { operator, value, within } = comparison;
  const search = new TextSearch(context, index, within);
  if (value.kind !== "text" && value.kind !== "string") return new DocumentSet();
  if (operator !== "ContainsAny" && operator !== "ContainsAll") {
    return yield* search.satisfying(clausesOf(operator, value.values[0], value.kind));
  }
  let selected: DocumentSet | undefined;
  for (const text of value.values) {
    const some = yield* search.satisfying(clausesOf("Equal", text, value.kind));
    if (selected === undefined) selected = some;
    else if (operator === "ContainsAll") selected.and(some);
    else selected.or(some);
  }
  return selected ?? new DocumentSet();
}

function clausesOf(operator: CompareOperator, text: string | undefined, kind: Tokenization): readonly TokenClause[] {
  return text === undefined ? [] : tokenClauses(operator, text, kind);
}

class TextSearch {
  readonly #context: FilterContext;
  readonly #index: PropertyIndex;
  readonly #within: DocumentSet | undefined;
  readonly #limit: number;

  constructor(context: FilterContext, index: PropertyIndex, within: DocumentSet | undefined) {
    this.#context = context;
    this.#index = index;
    this.#within = within;
    this.#limit = context.directory.documentLimit;
  }

  /** Documents of which one element satisfies all clauses. */
  *satisfying(clauses: readonly TokenClause[]): Work<DocumentSet> {
    const { tokens, flags } = this.#index;
    if (clauses.length === 0 || tokens === undefined || flags === undefined) return new DocumentSet();
    let candidates: DocumentSet | undefined;
    for (const clause of clauses) {
      const some = yield* this.#withToken(clause);
      candidates = candidates === undefined ? some : candidates.and(some);
      if (candidates.isEmpty) break;
    }
    const selected = candidates ?? new DocumentSet();
    const isExact = clauses.every((clause) => clause.exact !== undefined);
    const isSplit = clauses.length > 1 && this.#index.property.isArray;
    if (!isSplit && isExact) return selected;
    const cached = yield* flags.slot.demand();
    const unsure = isSplit ? selected.copy().and(cached.documents("irregular")) : new DocumentSet();
    // Long tokens are in the index by their hashes only.
    if (!isExact) unsure.or(cached.documents("long"));
    if (this.#within !== undefined) unsure.and(this.#within);
    if (isSplit) selected.andNot(cached.documents("irregular")).and(yield* this.#withOneToken(clauses));
    if (unsure.isEmpty) return selected;
    return selected.or(yield* this.#verified(unsure, clauses));
  }

  *#withToken(clause: TokenClause): Work<DocumentSet> {
    const { tokens, longTokens } = this.#index;
    if (tokens === undefined || longTokens === undefined) return new DocumentSet();
    if (clause.exact !== undefined) return yield* documentsOfToken({ tokens, longTokens }, clause.exact, this.#limit);
    return yield* selectTokens(tokens, clause, this.#limit, this.#context.yielder);
  }

  /** Documents of which one token satisfies all clauses: what it takes where every element is one token. */
  *#withOneToken(clauses: readonly TokenClause[]): Work<DocumentSet> {
    const { tokens } = this.#index;
    const [first] = clauses;
    if (tokens === undefined || first === undefined) return new DocumentSet();
    const exact = clauses.find((clause) => clause.exact !== undefined)?.exact;
    const test = (token: string) => clauses.every((clause) => clause.test(token));
    if (exact !== undefined) return test(exact) ? yield* this.#withToken({ test, exact }) : new DocumentSet();
    return yield* selectTokens(tokens, { ...first, test, isPrefix: false }, this.#limit, this.#context.yielder);
  }

  /** Those of the documents of which one element, as it is stored, satisfies all clauses. */
  *#verified(documents: DocumentSet, clauses: readonly TokenClause[]): Work<DocumentSet> {
    const { property } = this.#index;
    const set = new DocumentSet(this.#limit);
    const satisfies = (element: Json) => {
      const tokens = tokensOf(String(element), property.tokenization);
      return clauses.every((clause) => tokens.some(clause.test));
    };
    yield readProperty(this.#context.directory, property.name, documents, (document, value) => {
      const elements = Array.isArray(value) ? (value as readonly Json[]) : [value];
      if (elements.some(satisfies)) set.add(document);
    });
    return set;
  }
}
