import type { DocumentNode, FragmentDefinitionNode, SelectionSetNode } from "graphql";
import { Kind } from "graphql";
import type { GraphQlLimits } from "../limits.js";
import { refuseAbove } from "./check-text.js";

/** What a selection set amounts to once its fragments are expanded. */
interface Extent {
  readonly fields: number;
  readonly depth: number;
}

/**
 * Refuses a parsed document that would cost too much to validate or to execute: too many aliases or fragments, one
 * response name too often in a selection set (comparing them is quadratic), or fragments that expand to too many fields
 * or levels. Takes time linear in the document. A fragment inside itself counts as nothing: validation refuses it.
 * Fails with `tooLarge`, naming the limit.
 */
export function checkDocument(document: DocumentNode, limits: GraphQlLimits): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  refuseAbove(fragments.size, limits.graphqlFragmentsMax, "graphqlFragmentsMax", "fragments");
  const measure = new DocumentMeasure(fragments, limits);
  for (const definition of document.definitions) {
    if (!("selectionSet" in definition) || definition.selectionSet === undefined) continue;
    const extent = measure.selectionSet(definition.selectionSet);
    refuseAbove(extent.fields, limits.graphqlFieldsMax, "graphqlFieldsMax", "fields, fragments expanded");
    refuseAbove(extent.depth, limits.graphqlDepthMax, "graphqlDepthMax", "levels");
  }
}

class DocumentMeasure {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #limits: GraphQlLimits;
  /** Undefined while a fragment is being measured. */
  readonly #measured = new Map<string, Extent | undefined>();
  readonly #counted = new Set<SelectionSetNode>();
  #aliases = 0;

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>, limits: GraphQlLimits) {
    this.#fragments = fragments;
    this.#limits = limits;
  }

  /** Recursion is bounded: nesting by {@link checkText}, fragments by their number. */
  selectionSet(set: SelectionSetNode): Extent {
    this.#countNames(set);
    let fields = 0;
    let depth = 0;
    for (const selection of set.selections) {
      let inner: Extent = { fields: 0, depth: 0 };
      if (selection.kind === Kind.FRAGMENT_SPREAD) inner = this.#fragment(selection.name.value);
      else if (selection.selectionSet !== undefined) inner = this.selectionSet(selection.selectionSet);
      const own = selection.kind === Kind.FIELD ? 1 : 0;
      // Clamped: fragments that double one another reach 2^100.
      fields = Math.min(fields + inner.fields + own, Number.MAX_SAFE_INTEGER);
      depth = Math.max(depth, inner.depth + own);
    }
    return { fields, depth };
  }

  #fragment(name: string): Extent {
    const fragment = this.#fragments.get(name);
    if (fragment === undefined) return { fields: 0, depth: 0 };
    if (this.#measured.has(name)) return this.#measured.get(name) ?? { fields: 0, depth: 0 };
    this.#measured.set(name, undefined);
    const extent = this.selectionSet(fragment.selectionSet);
    this.#measured.set(name, extent);
    return extent;
  }

  #countNames(set: SelectionSetNode): void {
    if (this.#counted.has(set)) return;
    this.#counted.add(set);
    const names = new Map<string, number>();
    for (const selection of set.selections) {
      if (selection.kind !== Kind.FIELD) continue;
      if (selection.alias !== undefined) this.#aliases++;
      const name = selection.alias?.value ?? selection.name.value;
      const count = (names.get(name) ?? 0) + 1;
      names.set(name, count);
      const what = `fields '${name}' in one selection`;
      refuseAbove(count, this.#limits.graphqlRepeatedFieldsMax, "graphqlRepeatedFieldsMax", what);
    }
    refuseAbove(this.#aliases, this.#limits.graphqlAliasesMax, "graphqlAliasesMax", "aliases");
  }
}
