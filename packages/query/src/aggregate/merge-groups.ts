import {
  type AggregatedProperty,
  type AggregateGroup,
  compareUtf8,
  FirstEntries,
  type GroupPart,
  groupText,
  type PropertyAggregate,
  type ShardAggregate,
} from "@shoal/model";
import type { Yielder } from "@shoal/runtime";
import { inOrder, mergeProperty } from "./merge-property.js";

/** A look-up in a map of groups, in units of `queryYielder`. */
const GROUP_WORK = 5;

/** One group, and what each shard says of it. */
class MergedGroup {
  readonly parts: GroupPart[] = [];
  objectCount = 0;
  #text: string | undefined;

  constructor(readonly value: string | number | boolean) {}

  get text(): string {
    this.#text ??= groupText(this.value);
    return this.#text;
  }

  add(part: GroupPart): void {
    this.parts.push(part);
    this.objectCount += part.objectCount;
  }
}

/** Largest first, equally large ones by their text. */
function largestFirst(a: MergedGroup, b: MergedGroup): number {
  return b.objectCount - a.objectCount || compareUtf8(a.text, b.text);
}

/** The `groupsMax` largest groups of all shards together. */
export async function mergeGroups(
  results: readonly ShardAggregate[],
  groupsMax: number,
  wanted: readonly AggregatedProperty[],
  kinds: readonly PropertyAggregate["kind"][],
  yielder: Yielder,
): Promise<readonly AggregateGroup[]> {
  const groups = new Map<string | number | boolean, MergedGroup>();
  for (const part of results.flat()) {
    if (part.groupedBy === undefined) continue;
    let group = groups.get(part.groupedBy);
    if (group === undefined) {
      group = new MergedGroup(part.groupedBy);
      groups.set(part.groupedBy, group);
    }
    group.add(part);
    yielder.count(GROUP_WORK);
    if (yielder.isDue) await yielder.next();
  }
  const largest = new FirstEntries(groupsMax, largestFirst);
  for (const group of groups.values()) {
    largest.add(group);
    yielder.count(GROUP_WORK);
    if (yielder.isDue) await yielder.next();
  }
  const merged: AggregateGroup[] = [];
  for (const group of await inOrder(largest, yielder)) {
    merged.push(await mergeParts(group.text, group.parts, wanted, kinds, yielder));
    yielder.count(GROUP_WORK * (1 + wanted.length) * group.parts.length);
    if (yielder.isDue) await yielder.next();
  }
  return merged;
}

/** What all shards say of the same objects. */
export async function mergeParts(
  groupedBy: string | undefined,
  parts: readonly GroupPart[],
  wanted: readonly AggregatedProperty[],
  kinds: readonly PropertyAggregate["kind"][],
  yielder: Yielder,
): Promise<AggregateGroup> {
  const properties: PropertyAggregate[] = [];
  for (const [at, property] of wanted.entries()) {
    const ofProperty = parts.flatMap((part) => part.properties[at] ?? []);
    properties.push(await mergeProperty(property, kinds[at] ?? "references", ofProperty, yielder));
  }
  const objectCount = parts.reduce((sum, part) => sum + part.objectCount, 0);
  return { groupedBy, objectCount, properties };
}
