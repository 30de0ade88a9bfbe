import { About, AboutFloat32, AnyOrder } from "./question.js";
import { expectedRow, type Selection, shownValue } from "./selection.js";
import { cosineDistance } from "./value-rules.js";
import { elementsOf, type Place, Undecided, type World, type WorldObject } from "./world.js";

export interface Grouping {
  readonly type: "closest" | "merge";
  readonly force: number;
}

/** Each object joins the first group with a member that is near enough (reference-graphql 2.8). */
export function groupsOf(page: readonly WorldObject[], force: number): readonly (readonly WorldObject[])[] {
  const groups: WorldObject[][] = [];
  const isNear = (a: WorldObject, b: WorldObject): boolean => {
    const half = cosineDistance(a.vector, b.vector) / 2;
    if (Math.abs(half - force) < 1e-6) throw new Undecided(`half a distance of ${half}`);
    return half < force;
  };
  for (const object of page) {
    const found = groups.find((group) => group.some((member) => isNear(object, member)));
    if (found === undefined) groups.push([object]);
    else found.push(object);
  }
  return groups;
}

/** The row that stands for a whole group. */
export function mergedRow(world: World, group: readonly WorldObject[], selection: Selection): Record<string, unknown> {
  const [first] = group;
  if (first === undefined) throw new Error("an empty group");
  const row: Record<string, unknown> = {};
  for (const { name, alias } of selection.properties) row[alias] = mergedValue(world, group, name);
  for (const { name, fragments } of selection.references) {
    const found = new Map<string, unknown>();
    for (const object of group) {
      const ids = expectedRow(
        world,
        object,
        { properties: [], references: [{ name, fragments: bare(fragments) }], hasId: true },
        true,
      );
      const rows = expectedRow(world, object, { properties: [], references: [{ name, fragments }], hasId: true }, true);
      for (const [at, one] of elementsOf(ids[name] ?? undefined).entries()) {
        found.set(JSON.stringify(one), (rows[name] as readonly unknown[])[at]);
      }
    }
    row[name] = found.size === 0 ? null : new AnyOrder([...found.values()]);
  }
  return row;
}

/** The same fragments with nothing but ids. */
function bare(fragments: Selection["references"][number]["fragments"]): Selection["references"][number]["fragments"] {
  return fragments.map(({ className }) => ({ className, selection: { properties: [], references: [], hasId: true } }));
}

function mergedValue(world: World, group: readonly WorldObject[], name: string): unknown {
  const dataType = world.propertyOf(group[0]?.className ?? "", name)?.dataType;
  const shown = group.map((object) => shownValue(world, object, name)).filter((value) => value !== null);
  if (shown.length === 0) return null;
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  switch (dataType) {
    case "string":
    case "text":
    case "blob":
    case "date": {
      const [one, ...others] = [...new Set(shown as unknown[] as string[])];
      return others.length === 0 ? one : `${one} (${others.join(", ")})`;
    }
    case "int":
      return new About(mean(shown as number[]), 1);
    case "number":
      return new About(mean(shown as number[]), 1e-6 * Math.max(...(shown as number[]).map(Math.abs)));
    case "boolean":
      return shown.filter((value) => value === true).length * 2 >= shown.length;
    case "geoCoordinates":
      return {
        latitude: new AboutFloat32(mean((shown as Place[]).map((place) => place.latitude)), 1e-4),
        longitude: new AboutFloat32(mean((shown as Place[]).map((place) => place.longitude)), 1e-4),
      };
    default:
      return null;
  }
}
