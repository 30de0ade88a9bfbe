// Results of a shard in a form that can be compared, and what it must say by the oracle.

import {
  compareUtf8,
  ExactSum,
  groupText,
  type PropertyDefinition,
  type ShardAggregate,
  type ShardAggregation,
} from "@shoal/model";
import { plainParts } from "@shoal/model/testing/plain-aggregate";
import type { PlainObject } from "./aggregate-world.js";

/** A group's answer with everything in one order. */
export interface ComparableGroup {
  readonly groupedBy: string | number | boolean | undefined;
  readonly objectCount: number;
  readonly properties: readonly Readonly<Record<string, unknown>>[];
}

type Asked = Pick<ShardAggregation, "groupBy" | "properties" | "isWhole" | "groupsMax">;

/** A shard that is the only one leaves out the groups and texts that nobody will see. */
export function expectedResult(
  objects: readonly PlainObject[],
  definitions: readonly PropertyDefinition[],
  asked: Asked,
): readonly ComparableGroup[] {
  const { groupBy, isWhole, groupsMax, properties } = asked;
  const groups = comparable(plainParts(objects, definitions, asked)).map((group) => ({
    ...group,
    properties: group.properties.map((part, at) => {
      if (part.kind !== "texts") return part;
      const { topOccurrences = 0 } = properties[at] ?? {};
      const distinct = part.distinct as readonly unknown[];
      return {
        ...part,
        distinct: topOccurrences === 0 ? undefined : distinct.slice(0, isWhole ? topOccurrences : undefined),
      };
    }),
  }));
  return groupBy === undefined ? groups : groups.slice(0, isWhole ? groupsMax : groups.length);
}

function inOrder(groups: readonly ComparableGroup[]): readonly ComparableGroup[] {
  const text = ({ groupedBy }: ComparableGroup) => groupText(groupedBy ?? "");
  return [...groups].sort((a, b) => b.objectCount - a.objectCount || compareUtf8(text(a), text(b)));
}

export function comparable(result: ShardAggregate): readonly ComparableGroup[] {
  const groups = result.map(({ groupedBy, objectCount, properties }) => ({
    groupedBy,
    objectCount,
    properties: properties.map((part) => {
      if (part.kind === "numbers") {
        const sum = new ExactSum();
        sum.addAll(part.sum);
        const counts = part.distinct?.counts;
        const distinct = part.distinct && Array.from(part.distinct.values, (value, at) => [value, counts?.[at]]);
        return { ...part, sum: sum.value(), distinct };
      }
      if (part.kind !== "texts" || part.distinct === undefined) return { ...part };
      const { values, counts } = part.distinct;
      const entries = values.map((value, at): [string, number] => [value, counts[at] ?? 0]);
      return { ...part, distinct: entries.sort((a, b) => b[1] - a[1] || compareUtf8(a[0], b[0])) };
    }),
  }));
  return inOrder(groups);
}
