import { at } from "../../http-client.js";
import { aggregated, groupsBy } from "./aggregate-values.js";
import { type Clause, clauseJson, clauseText, smallerClauses } from "./clause.js";
import { difference, type Question, type QuestionBody } from "./question.js";
import { satisfies } from "./satisfies.js";
import type { World, WorldObject } from "./world.js";

export interface AggregatedPart {
  readonly name: string;
  readonly members: readonly string[];
  /** Limit of `topOccurrences`. */
  readonly top: number | undefined;
}

export interface AggregateParts {
  readonly className: string;
  readonly where: Clause | undefined;
  readonly groupBy: string | undefined;
  readonly limit: number | undefined;
  readonly properties: readonly AggregatedPart[];
  readonly isVariable: boolean;
}

const GROUPS_DEFAULT = 100;

/** `Aggregate { Class(…) { … } }`, always with `meta` and `groupedBy`. */
export class AggregateQuestion implements Question {
  constructor(readonly parts: AggregateParts) {}

  get body(): QuestionBody {
    const { className, where, groupBy, limit, properties, isVariable } = this.parts;
    const hasVariable = isVariable && where !== undefined;
    const given = [
      where === undefined ? undefined : `where: ${hasVariable ? "$where" : clauseText(where)}`,
      groupBy === undefined ? undefined : `groupBy: ["${groupBy}"]`,
      limit === undefined ? undefined : `limit: ${limit}`,
    ].filter((one) => one !== undefined);
    const fields = properties.map(({ name, members, top }) => {
      const shown = members.map((member) =>
        member === "topOccurrences" ? `${member}${top === undefined ? "" : `(limit: ${top})`} {value occurs}` : member,
      );
      return `${name} {${shown.join(" ")}}`;
    });
    const all = ["meta {count}", "groupedBy {path value}", ...fields].join(" ");
    const head = hasVariable ? `query q($where: AggregateObjects${className}WhereInpObj) ` : "";
    return {
      query: `${head}{ Aggregate { ${className}${given.length === 0 ? "" : `(${given.join(", ")})`} { ${all} } } }`,
      ...(hasVariable ? { variables: { where: clauseJson(where) } } : {}),
    };
  }

  expected(world: World): unknown {
    const { className, where, groupBy, limit = GROUPS_DEFAULT } = this.parts;
    const kept = world.objectsOf(className).filter((one) => where === undefined || satisfies(world, one, where));
    if (groupBy === undefined) return [this.#group(world, kept, null)];
    return groupsBy(kept, groupBy)
      .slice(0, limit)
      .map(({ value, objects }) => this.#group(world, objects, { path: [groupBy], value }));
  }

  fault(world: World, answer: unknown): string | undefined {
    return difference(this.expected(world), at(answer, "data", "Aggregate", this.parts.className));
  }

  smaller(): readonly Question[] {
    const { parts } = this;
    const { where, groupBy, limit, properties, isVariable } = parts;
    const changes: Partial<AggregateParts>[] = [
      ...(where === undefined ? [] : [{ where: undefined }, ...smallerClauses(where).map((one) => ({ where: one }))]),
      ...(groupBy === undefined ? [] : [{ groupBy: undefined }]),
      ...(limit === undefined ? [] : [{ limit: undefined }]),
      ...(isVariable ? [{ isVariable: false }] : []),
      ...properties.map((_, place) => ({ properties: properties.filter((__, other) => other !== place) })),
      ...properties.flatMap((one, place) =>
        one.members.length < 2
          ? []
          : one.members.map((_, gone) => ({
              properties: properties.map((other, index) =>
                index === place ? { ...one, members: one.members.filter((__, kept) => kept !== gone) } : other,
              ),
            })),
      ),
    ];
    return changes.map((change) => new AggregateQuestion({ ...parts, ...change }));
  }

  #group(world: World, objects: readonly WorldObject[], groupedBy: unknown): unknown {
    const { className, properties } = this.parts;
    const values = properties.map(({ name, members, top }) => [
      name,
      aggregated(world, className, name, members, top, objects),
    ]);
    return { meta: { count: objects.length }, groupedBy, ...Object.fromEntries(values) };
  }
}
