/** Primitive data types; references have the names of classes. */
export const DATA_TYPES = [
  ...["string", "text", "int", "number", "boolean", "date", "geoCoordinates", "phoneNumber", "blob"],
  ...["string[]", "text[]", "int[]", "number[]", "boolean[]", "date[]"],
] as const;

export interface WorldProperty {
  readonly name: string;
  /** One of `DATA_TYPES`, or `reference`. */
  readonly dataType: string;
  /** Of a reference: the classes that it may point to. */
  readonly targets: readonly string[];
  readonly isIndexed: boolean;
}

export interface WorldClass {
  readonly name: string;
  readonly shards: number;
  readonly dimensions: number;
  /** Its vectors are in no index. */
  readonly skipsVectors: boolean;
  readonly properties: readonly WorldProperty[];
}

export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

export interface WorldObject {
  readonly id: string;
  readonly className: string;
  /** As sent; references as lists of ids. What is not set is not in it. */
  readonly properties: Map<string, unknown>;
  vector: readonly number[];
  /** Milliseconds since 1970, as the server gave them. */
  createdMs: number;
  updatedMs: number;
}

/** Everything that was written, in plain maps. What the server must answer is found by walking over all of it. */
export class World {
  readonly objects = new Map<string, WorldObject>();

  constructor(
    readonly classes: readonly WorldClass[],
    /** The scheme in which the server writes beacons. */
    readonly scheme: "svc" | "weaviate",
  ) {}

  classOf(name: string): WorldClass {
    const found = this.classes.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no class ${name}`);
    return found;
  }

  propertyOf(className: string, name: string): WorldProperty | undefined {
    return this.classOf(className).properties.find((one) => one.name === name);
  }

  /** In the order of their ids. */
  objectsOf(className: string): readonly WorldObject[] {
    return [...this.objects.values()]
      .filter((one) => one.className === className)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** The elements of a list, or the value itself; none of what is not set. */
export function elementsOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** The ids that an object refers to; of those that are gone, too. */
export function referredIds(object: WorldObject, property: string): readonly string[] {
  return (object.properties.get(property) ?? []) as readonly string[];
}

/** Two roundings of the same number may fall on either side of a border: such a question has no one answer. */
export class Undecided extends Error {}
