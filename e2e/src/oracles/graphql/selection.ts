import type { SeededRandom } from "@shoal/seeded-random";
import { shownDate, shownFloat32 } from "./value-rules.js";
import { type Place, referredIds, type World, type WorldObject } from "./world.js";

export interface SelectedReference {
  readonly name: string;
  readonly fragments: readonly { readonly className: string; readonly selection: Selection }[];
}

/** What is asked of each object. */
export interface Selection {
  /** Primitive ones, each under its name or another one. */
  readonly properties: readonly { readonly name: string; readonly alias: string }[];
  readonly references: readonly SelectedReference[];
  readonly hasId: boolean;
}

const DEPTH_MAX = 3;

export function randomSelection(world: World, className: string, chance: SeededRandom, depth = 0): Selection {
  const { properties } = world.classOf(className);
  const primitive = properties.filter(({ dataType }) => dataType !== "reference" && chance.oneIn(depth === 0 ? 3 : 5));
  const references = properties.filter(
    ({ dataType }) => dataType === "reference" && depth < DEPTH_MAX && chance.oneIn(3),
  );
  return {
    properties: primitive.map(({ name }) => ({ name, alias: chance.oneIn(6) ? `other_${name}` : name })),
    references: references.map(({ name, targets }) => ({
      name,
      fragments: (chance.oneIn(2) ? targets : [chance.pick(targets)]).map((target) => ({
        className: target,
        selection: randomSelection(world, target, chance, depth + 1),
      })),
    })),
    hasId: depth === 0 || chance.oneIn(2) || primitive.length === 0,
  };
}

/** The selection as text; fragments get names when there is somewhere to put them. */
export function selectionText(
  world: World,
  className: string,
  { properties, references, hasId }: Selection,
  additional: string,
  named: string[] | undefined,
): string {
  const fields = properties.map(({ name, alias }) => {
    const dataType = world.propertyOf(className, name)?.dataType;
    const inner =
      dataType === "geoCoordinates" ? " {latitude longitude}" : dataType === "phoneNumber" ? " {input}" : "";
    return `${alias === name ? "" : `${alias}: `}${name}${inner}`;
  });
  const referred = references.map(({ name, fragments }) => {
    const texts = fragments.map((fragment) => {
      const inner = selectionText(world, fragment.className, fragment.selection, "id", named);
      if (named === undefined) return `... on ${fragment.className} {${inner}}`;
      named.push(`fragment f${named.length} on ${fragment.className} {${inner}}`);
      return `...f${named.length - 1}`;
    });
    return `${name} {${texts.join(" ")}}`;
  });
  return [...fields, ...referred, ...(hasId ? [`_additional {${additional}}`] : [])].join(" ");
}

/** The row of an object as it must be answered, but for the `_additional` of the first level. */
export function expectedRow(
  world: World,
  object: WorldObject,
  selection: Selection,
  isNested: boolean,
): Record<string, unknown> {
  const { properties, references, hasId } = selection;
  const row: Record<string, unknown> = {};
  for (const { name, alias } of properties) row[alias] = shownValue(world, object, name);
  for (const { name, fragments } of references) {
    const targets = fragments.flatMap(({ className, selection: inner }) =>
      referredIds(object, name)
        .map((id) => world.objects.get(id))
        .filter((one): one is WorldObject => one?.className === className)
        .map((one) => expectedRow(world, one, inner, true)),
    );
    row[name] = targets.length === 0 ? null : targets;
  }
  if (hasId && isNested) row._additional = { id: object.id };
  return row;
}

/** A primitive property as GraphQL shows it. */
export function shownValue(world: World, { className, properties }: WorldObject, name: string): unknown {
  const value = properties.get(name);
  if (value === undefined) return null;
  switch (world.propertyOf(className, name)?.dataType) {
    case "date":
      return shownDate(String(value));
    case "geoCoordinates": {
      const { latitude, longitude } = value as Place;
      return { latitude: shownFloat32(latitude), longitude: shownFloat32(longitude) };
    }
    default:
      return value;
  }
}

export function smallerSelections(selection: Selection): readonly Selection[] {
  const { properties, references } = selection;
  return [
    ...(references.length > 0 ? [{ ...selection, references: [] }] : []),
    ...(properties.length > 0 ? [{ ...selection, properties: [] }] : []),
    ...properties.map((_, at) => ({ ...selection, properties: properties.filter((__, other) => other !== at) })),
    ...references.map((_, at) => ({ ...selection, references: references.filter((__, other) => other !== at) })),
    ...references.flatMap(({ name, fragments }, at) =>
      fragments.flatMap((fragment, place) =>
        smallerSelections(fragment.selection).map((inner) => {
          const changed = fragments.map((one, other) => (other === place ? { ...one, selection: inner } : one));
          return {
            ...selection,
            references: references.map((one, other) => (other === at ? { name, fragments: changed } : one)),
          };
        }),
      ),
    ),
  ].filter((one) => one.hasId || one.properties.length + one.references.length > 0);
}
