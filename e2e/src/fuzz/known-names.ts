import type { SeededRandom } from "@shoal/seeded-random";
import { at, type HttpClient } from "../http-client.js";
import { randomId } from "../random-objects.js";
import type { KnownClassification } from "./classified-class.js";

export interface KnownProperty {
  readonly name: string;
  readonly dataType: readonly string[];
}

export interface KnownObject {
  readonly id: string;
  readonly className: string;
}

/** What requests are made of so that they meet things that exist: classes as they are right now, and ids. */
export class KnownNames {
  classes: ReadonlyMap<string, readonly KnownProperty[]> = new Map();
  readonly ids: readonly string[];
  /** The classes as the server shows them. */
  shown: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map();
  classification: KnownClassification | undefined;
  /** Names that classes are created under. */
  readonly classNames = Array.from({ length: 12 }, (_, at) => `Fuzz${String.fromCharCode(65 + at)}`);

  constructor(chance: SeededRandom) {
    this.ids = Array.from({ length: 60 }, () => randomId(chance.next));
  }

  /** Reads the schema, and deletes classes beyond `most` but never `kept`. */
  async refresh(http: HttpClient, kept: ReadonlySet<string>, most: number): Promise<void> {
    const { json } = await http.get("/v1/schema");
    const classes = (at(json, "classes") ?? []) as readonly { class: string; properties: KnownProperty[] | null }[];
    const others = classes.filter((one) => !kept.has(one.class));
    this.shown = new Map(others.map((one) => [one.class, { ...one }]));
    this.classes = new Map(others.map((one) => [one.class, one.properties ?? []]));
    const spare = others.length > most ? others.slice(0, others.length - most) : [];
    for (const one of spare) await http.delete(`/v1/schema/${encodeURIComponent(one.class)}`);
  }

  /** An object to speak of, and the class that its id belongs to as long as nothing is odd. */
  object(chance: SeededRandom): KnownObject {
    const at = chance.below(this.ids.length);
    return { id: this.ids[at] ?? "", className: this.classNames[at % this.classNames.length] ?? "" };
  }

  className(chance: SeededRandom): string {
    const known = [...this.classes.keys()];
    return known.length === 0 || chance.oneIn(6) ? chance.pick(this.classNames) : chance.pick(known);
  }

  id(chance: SeededRandom): string {
    return chance.pick(this.ids);
  }

  beacon(chance: SeededRandom): string {
    const host = `${chance.pick(["weaviate", "svc", "weaviate", "x-y"])}://localhost`;
    if (chance.oneIn(2)) return `${host}/${this.id(chance)}`;
    const { id, className } = this.object(chance);
    return `${host}/${className}/${id}/${this.referenceName(chance, className)}`;
  }

  /** Mostly a property that holds references. */
  referenceName(chance: SeededRandom, className: string): string {
    const known = (this.classes.get(className) ?? []).filter(({ dataType }) => /^[A-Z]/.test(dataType[0] ?? ""));
    return known.length === 0 || chance.oneIn(6) ? this.propertyName(chance, className) : chance.pick(known).name;
  }

  propertyName(chance: SeededRandom, className: string): string {
    const known = this.classes.get(className) ?? [];
    return known.length === 0 || chance.oneIn(5) ? chance.pick(PROPERTY_NAMES) : chance.pick(known).name;
  }
}

export const PROPERTY_NAMES = [
  "title",
  "count",
  "score",
  "flag",
  "at",
  "place",
  "phone",
  "file",
  "tags",
  "ref",
  "sizes",
];
export const DATA_TYPES = [
  ...["string", "text", "int", "number", "boolean", "date", "geoCoordinates", "phoneNumber", "blob"],
  ...["string[]", "text[]", "int[]", "number[]", "boolean[]", "date[]"],
];
