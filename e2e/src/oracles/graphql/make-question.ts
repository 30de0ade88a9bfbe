import type { SeededRandom } from "@shoal/seeded-random";
import { AggregateQuestion } from "./aggregate-question.js";
import { aggregateMembers } from "./aggregate-values.js";
import { ExploreQuestion } from "./explore-question.js";
import { GetQuestion, type Near } from "./get-question.js";
import { ClauseMaker } from "./make-clause.js";
import { vectorOf } from "./make-values.js";
import type { Question } from "./question.js";
import { RefusedQuestion } from "./refused-question.js";
import { randomSelection } from "./selection.js";
import type { World, WorldClass } from "./world.js";

/** What has words in GraphQL; the parts of it are told apart so that a run can leave some out. */
export const QUESTION_KINDS = ["get", "filter", "near", "group", "aggregate", "explore", "refused"] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** A random question of the kind about the world as it is now. */
export function makeQuestion(kind: QuestionKind, world: World, chance: SeededRandom): Question {
  const clauses = new ClauseMaker(world, chance);
  if (kind === "refused") {
    const { name } = chance.pick(world.classes);
    return new RefusedQuestion(name, clauses.onHidden(name));
  }
  if (kind === "explore") return exploreQuestion(world, chance);
  if (kind === "aggregate") return aggregateQuestion(world, clauses, chance);
  const isNear = kind === "near" || (kind === "group" && chance.oneIn(2));
  const definition = chance.pick(isNear ? world.classes.filter((one) => !one.skipsVectors) : world.classes);
  const isFiltered = kind === "filter" || (kind !== "get" && chance.oneIn(2));
  const hasOffset = chance.oneIn(3);
  return new GetQuestion(world, {
    className: definition.name,
    where: isFiltered ? clauses.clause(definition.name, true) : undefined,
    near: isNear ? near(world, definition, chance) : undefined,
    limit: hasOffset || chance.oneIn(2) ? chance.pick([0, 1, 2, 5, 10, 30, 1_000]) : undefined,
    offset: hasOffset ? chance.pick([0, 1, 3, 10, 40]) : undefined,
    group:
      kind === "group"
        ? { type: chance.pick(["closest", "merge"] as const), force: chance.pick([0.01, 0.05, 0.2, 0.5, 0.9, 1]) }
        : undefined,
    selection: randomSelection(world, definition.name, chance),
    style: { isVariable: chance.oneIn(5), hasNames: chance.oneIn(4) },
  });
}

function near(world: World, { dimensions }: WorldClass, chance: SeededRandom): Near {
  const certainty = chance.oneIn(3) ? chance.pick([0, 0.3, 0.5001, 0.77, 0.95, 1.5, -1]) : undefined;
  const able = [...world.objects.values()].filter(
    ({ className, vector }) => vector.length === dimensions && !world.classOf(className).skipsVectors,
  );
  const known = able.length === 0 ? undefined : chance.pick(able);
  if (known === undefined || chance.oneIn(2)) return { vector: vectorOf(dimensions, chance), id: undefined, certainty };
  return { vector: known.vector, id: chance.oneIn(2) ? known.id : undefined, certainty };
}

function exploreQuestion(world: World, chance: SeededRandom): Question {
  const definition = chance.pick(world.classes.filter((one) => !one.skipsVectors));
  return new ExploreQuestion({
    near: near(world, definition, chance),
    limit: chance.oneIn(2) ? chance.pick([0, 1, 5, 25, 1_000]) : undefined,
    offset: chance.oneIn(3) ? chance.pick([0, 1, 10, 100]) : undefined,
  });
}

function aggregateQuestion(world: World, clauses: ClauseMaker, chance: SeededRandom): Question {
  const { name, properties } = chance.pick(world.classes);
  const able = properties.filter((one) => aggregateMembers(one.dataType).length > 0);
  const groupable = able.filter(({ dataType }) => !/^(date|reference)/.test(dataType));
  const groupBy = groupable.length > 0 && chance.oneIn(3) ? chance.pick(groupable).name : undefined;
  return new AggregateQuestion({
    className: name,
    where: chance.oneIn(2) ? clauses.clause(name, chance.oneIn(2)) : undefined,
    groupBy,
    limit: chance.oneIn(4) ? chance.pick([1, 2, 5, 1_000]) : undefined,
    properties: able
      .filter(() => chance.oneIn(2))
      .map((property) => {
        const members = aggregateMembers(property.dataType);
        const wanted = members.filter(() => chance.oneIn(2));
        return {
          name: property.name,
          members: wanted.length === 0 ? members : wanted,
          top: chance.oneIn(2) ? chance.pick([1, 2, 10, 100]) : undefined,
        };
      }),
    isVariable: chance.oneIn(5),
  });
}
