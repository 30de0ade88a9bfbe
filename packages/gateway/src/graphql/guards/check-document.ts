import type { DocumentNode, FragmentDefinitionNode, SelectionSetNode } from "graphql";
import { Kind } from "graphql";
import type { GraphQlLimits } from "../limits.js";
import { LEVELS, refuseAbove } from "./check-text.js";

/** What a selection set amounts to once its fragments are expanded. */
interface Extent {
  readonly fields: number;
  readonly depth: number;
}

/**
 * Refuses a parsed document that would cost too much to validate or to execute: too many aliases or fragments, fragments
 * that expand to too many fields or levels, or too many fields at one place of the response. Takes time linear in the
 * expanded fields. The response says whether a fragment stands inside itself: most rules of validation must not meet such
 * a document, they walk it again and again. Fails with `tooLarge`.
 */
export function checkDocument(document: DocumentNode, limits: GraphQlLimits): { readonly hasCycle: boolean } {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  refuseAbove(fragments.size, limits.graphqlFragmentsMax, "fragments");
  const measure = new DocumentMeasure(fragments, limits);
  const sets = document.definitions.flatMap((each) => ("selectionSet" in each ? (each.selectionSet ?? []) : []));
  let fields = 0;
  for (const set of sets) {
    const extent = measure.selectionSet(set);
    fields += extent.fields;
    refuseAbove(fields, limits.graphqlFieldsMax, "fields and fragments, expanded");
    refuseAbove(extent.depth, limits.graphqlDepthMax, LEVELS);
  }
  if (!measure.hasCycle) for (const set of sets) measure.comparePairs([set]);
  return { hasCycle: measure.hasCycle };
}

class DocumentMeasure {
  /** Undefined while a fragment is being measured. */
  readonly #measured = new Map<string, Extent | undefined>();
  readonly #counted = new Set<SelectionSetNode>();
  #aliases = 0;
  #pairs = 0;
  hasCycle = false;

  constructor(
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    private readonly limits: GraphQlLimits,
  ) {}

  /** Recursion is bounded: nesting by {@link checkText}, fragments by their number. */
  selectionSet(set: SelectionSetNode): Extent {
    this.#countAliases(set);
    let fields = 0;
    let depth = 0;
    for (const selection of set.selections) {
      let inner: Extent = { fields: 0, depth: 0 };
      if (selection.kind === Kind.FRAGMENT_SPREAD) inner = this.#fragment(selection.name.value);
      else if (selection.selectionSet !== undefined) inner = this.selectionSet(selection.selectionSet);
      // Fragments count beside their fields: some that double one another may hold none, and are walked all the same.
      // Clamped: they reach 2^100.
      fields = Math.min(fields + inner.fields + 1, Number.MAX_SAFE_INTEGER);
      depth = Math.max(depth, inner.depth + (selection.kind === Kind.FIELD ? 1 : 0));
    }
    return { fields, depth };
  }

  #fragment(name: string): Extent {
    const fragment = this.fragments.get(name);
    if (fragment === undefined) return { fields: 0, depth: 0 };
    if (this.#measured.has(name)) {
      const measured = this.#measured.get(name);
      if (measured === undefined) this.hasCycle = true;
      return measured ?? { fields: 0, depth: 0 };
    }
    this.#measured.set(name, undefined);
    const extent = this.selectionSet(fragment.selectionSet);
    this.#measured.set(name, extent);
    return extent;
  }

  /** Counts the pairs of fields that stand at one place of the response when `sets` are merged, and below. */
  comparePairs(sets: readonly SelectionSetNode[]): void {
    const places = new Map<string, { count: number; readonly inner: SelectionSetNode[] }>();
    for (const set of sets) this.#gather(set, places);
    for (const { count, inner } of places.values()) {
      this.#pairs += (count * (count - 1)) / 2;
      refuseAbove(this.#pairs, this.limits.graphqlFieldPairsMax, "pairs of fields at one place");
      if (inner.length > 0) this.comparePairs(inner);
    }
  }

  #gather(set: SelectionSetNode, places: Map<string, { count: number; readonly inner: SelectionSetNode[] }>): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = this.fragments.get(selection.name.value);
        if (fragment !== undefined) this.#gather(fragment.selectionSet, places);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) this.#gather(selection.selectionSet, places);
      else {
        const name = selection.alias?.value ?? selection.name.value;
        const place = places.get(name) ?? { count: 0, inner: [] };
        places.set(name, place);
        place.count++;
        if (selection.selectionSet !== undefined) place.inner.push(selection.selectionSet);
      }
    }
  }

  #countAliases(set: SelectionSetNode): void {
    if (this.#counted.has(set)) return;
    this.#counted.add(set);
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD && selection.alias !== undefined) this.#aliases++;
    }
    refuseAbove(this.#aliases, this.limits.graphqlAliasesMax, "aliases");
  }
}
