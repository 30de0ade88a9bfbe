import type { Work } from "@shoal/runtime";
import { type AggregateScope, eachDocument } from "./aggregate-source.js";

/** In no group. */
export const NO_GROUP = -1;

export type GroupValue = string | number | boolean;

export interface Group {
  readonly value: GroupValue;
  readonly objectCount: number;
}

/** Which groups a document is in. Of several shards' groups only those that are to be answered. */
export interface Groups {
  readonly size: number;
  /** The first group of the document; `NO_GROUP` when it is in none. */
  first(document: number): number;
  /** The others. */
  more(document: number): readonly number[] | undefined;
}

/** One group of everything. */
export const EVERYTHING: Groups = { size: 1, first: () => 0, more: () => undefined };

/** Groups by document. */
export class GroupTable implements Groups {
  readonly #first: Int32Array;
  readonly #more = new Map<number, number[]>();

  constructor(
    readonly size: number,
    documentLimit: number,
  ) {
    this.#first = new Int32Array(documentLimit).fill(NO_GROUP);
  }

  /** A document may be told twice of one group. Documents that have come since the table was made are in none. */
  add(document: number, group: number): void {
    const first = this.#first[document];
    if (first === undefined || first === group) return;
    if (first === NO_GROUP) {
      this.#first[document] = group;
      return;
    }
    const more = this.#more.get(document);
    if (more === undefined) this.#more.set(document, [group]);
    else if (!more.includes(group)) more.push(group);
  }

  first(document: number): number {
    return this.#first[document] ?? NO_GROUP;
  }

  more(document: number): readonly number[] | undefined {
    return this.#more.size === 0 ? undefined : this.#more.get(document);
  }
}

/** Visits each pair of a document of the scope and a group that it is in; of `among` only, when that is given. */
export function* eachGrouped(
  scope: AggregateScope,
  groups: Groups,
  among: AggregateScope["documents"] | undefined,
  visit: (group: number, document: number) => void,
): Work<void> {
  const { documents, isAll, yielder } = scope;
  const members = among === undefined ? documents : isAll ? among : among.copy().and(documents);
  yield* eachDocument(members, yielder, (document) => {
    const first = groups.first(document);
    if (first === NO_GROUP) return;
    visit(first, document);
    const more = groups.more(document);
    if (more !== undefined) for (const group of more) visit(group, document);
  });
}

/** How many documents of the scope that are `members` each group has. */
export function* countMembers(
  scope: AggregateScope,
  groups: Groups,
  members: AggregateScope["documents"],
): Work<readonly number[]> {
  if (groups === EVERYTHING) return [scope.isAll ? members.size : members.copy().and(scope.documents).size];
  const counts = new Array<number>(groups.size).fill(0);
  yield* eachGrouped(scope, groups, members, (group) => {
    counts[group] = (counts[group] ?? 0) + 1;
  });
  return counts;
}
