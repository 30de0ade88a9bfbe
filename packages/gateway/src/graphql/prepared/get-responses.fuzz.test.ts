import {
  type GetQuery,
  parseShortBeacon,
  type ReferenceSelection,
  SPEC_PROFILE,
  type StoredObject,
} from "@shoal/model";
import type { GetRow, ReferencedRow } from "@shoal/query";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { execute, type GraphQLResolveInfo, Kind, parse, type SelectionSetNode } from "graphql";
import { expect, it } from "vitest";
import { GraphQlHandler } from "../handler.js";
import { DEFAULT_GRAPHQL_LIMITS } from "../limits.js";
import { CONTEXT } from "../testing/ask-library.js";
import { buildGraphQlSchema } from "../testing/build-schema.js";
import { LibraryQuery, LibraryView, libraryClass, property, storedObject } from "../testing/library.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261127);
const ROUNDS = 500;

/**
 * Both doors share compiler and writer, so that they would be wrong together. Here graphql-js executes the same requests over plain
 * objects, with a resolver where the contract asks for other things than GraphQL does.
 */
interface Plain {
  readonly className: string;
  readonly index: number;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Names of references, and the places of their targets among all objects. */
  readonly references: Readonly<Record<string, readonly number[]>>;
  readonly vector: readonly number[] | undefined;
}

const CLASSES = [
  libraryClass("Book", [
    property("title", "text"),
    property("pages", "int"),
    property("price", "number"),
    property("inPrint", "boolean"),
    property("tags", "string[]"),
    property("place", "geoCoordinates"),
    property("by", "Author", "Publisher"),
  ]),
  libraryClass("Author", [property("name", "string"), property("wrote", "Book"), property("knows", "Author")]),
  libraryClass("Publisher", [property("name", "string"), property("prints", "Book")]),
];
const SCALARS: Readonly<Record<string, readonly string[]>> = {
  Book: ["title", "pages", "price", "inPrint", "tags", "place"],
  Author: ["name"],
  Publisher: ["name"],
};
const REFERENCES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  Book: { by: ["Author", "Publisher"] },
  Author: { wrote: ["Book"], knows: ["Author"] },
  Publisher: { prints: ["Book"] },
};

function dataSet(random: SeededRandom): readonly Plain[] {
  const classNames = Array.from({ length: 24 }, (_, i) => (i < 12 ? "Book" : i < 18 ? "Author" : "Publisher"));
  const some = <T>(make: () => T): T | undefined => (random.next() < 0.75 ? make() : undefined);
  const decimal = () => Math.round(random.next() * 2000 - 1000) / 1000;
  const values: Readonly<Record<string, () => unknown>> = {
    title: () => random.pick(['War & "Peace"\n', "ünï 🐟 \u2028", "", "x".repeat(60)]),
    name: () => random.pick(["Leo", 'a "b"', "\\"]),
    pages: () => random.below(1_000),
    price: decimal,
    inPrint: () => random.next() < 0.5,
    tags: () => Array.from({ length: random.below(3) }, () => random.pick(["a", "}]"])),
    place: () => ({ latitude: decimal(), longitude: decimal() }),
  };
  return classNames.map((className, index) => {
    const given = (SCALARS[className] ?? []).flatMap((name) => {
      const value = some(() => values[name]?.());
      return value === undefined ? [] : [[name, value] as const];
    });
    const references = Object.entries(REFERENCES[className] ?? {}).flatMap(([name, targets]) => {
      const places = classNames.flatMap((target, at) => (targets.includes(target) && random.next() < 0.12 ? at : []));
      return places.length === 0 ? [] : [[name, places] as const];
    });
    const vector = some(() => [decimal(), decimal(), 1]);
    return {
      ...{ className, index, vector },
      properties: Object.fromEntries(given),
      references: Object.fromEntries(references),
    };
  });
}

function stored({ className, index, properties, references, vector }: Plain): StoredObject {
  const beacons = Object.entries(references).map(([name, places]) => [
    name,
    places.map((at) => ({ beacon: `svc://localhost/${idOf(at)}` })),
  ]);
  const all = { ...properties, ...Object.fromEntries(beacons) };
  return storedObject(className, index, all, { vector: vector && Float32Array.from(vector) });
}

function idOf(index: number): string {
  return storedObject("", index, {}).id;
}

function certaintyOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>) =>
    Array.from(x).reduce((sum, each, i) => sum + each * (y[i] ?? 0), 0);
  return Math.fround((1 + dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))) / 2);
}

/** What a query service finds; what was not asked for is not there. */
class ShelfQuery extends LibraryQuery {
  constructor(private readonly objects: readonly StoredObject[]) {
    super();
  }

  override async get({ className, fields, nearVector, limit = 100, offset = 0, references = [] }: GetQuery) {
    let found = this.objects
      .filter((object) => object.className === className)
      .map((object): { object: StoredObject; certainty: number | undefined } => ({ object, certainty: undefined }));
    if (nearVector !== undefined) {
      found = found
        .flatMap(({ object }) =>
          object.vector ? [{ object, certainty: certaintyOf(object.vector, nearVector.vector) }] : [],
        )
        .filter(({ certainty }) => certainty >= (nearVector.certainty ?? 0))
        .sort((a, b) => b.certainty - a.certainty);
    }
    const known = new Map<object, Map<string, ReferencedRow>>();
    return found.slice(offset, offset + limit).map(
      ({ object, certainty }): GetRow => ({
        ...{ id: object.id, certainty, references: this.#resolved(object, references, known) },
        object: {
          ...object,
          propertiesJson: fields.properties ? object.propertiesJson : Buffer.from("{}"),
          vector: fields.vector ? object.vector : undefined,
        },
      }),
    );
  }

  /** A row is one wherever the same selection reaches it, as those of the query service are. */
  #resolved(
    object: StoredObject,
    selections: readonly ReferenceSelection[],
    known: Map<object, Map<string, ReferencedRow>>,
  ): ReadonlyMap<string, readonly ReferencedRow[]> {
    const properties: Record<string, readonly { beacon: string }[] | undefined> = JSON.parse(
      object.propertiesJson.toString(),
    );
    const resolved = new Map<string, readonly ReferencedRow[]>();
    for (const { property: name, targets } of selections) {
      const rows = (properties[name] ?? []).flatMap(({ beacon }) => {
        const target = this.objects.find(({ id }) => id === parseShortBeacon(beacon).id);
        const selection = targets.find(({ className }) => className === target?.className);
        if (target === undefined || selection === undefined) return [];
        const rowsOf = known.get(selection) ?? new Map<string, ReferencedRow>();
        known.set(selection, rowsOf);
        const make = () => ({
          ...{ id: target.id, object: target },
          references: this.#resolved(target, selection.references, known),
        });
        const row = rowsOf.get(target.id) ?? make();
        rowsOf.set(target.id, row);
        return row;
      });
      if (rows.length > 0) resolved.set(name, rows);
    }
    return resolved;
  }
}

interface NearArguments {
  readonly vector: readonly number[];
  readonly certainty?: number | null;
}

/** What graphql-js resolves by itself: plain members, and functions of arguments. */
function resolvers(objects: readonly Plain[]) {
  const rowOf = (plain: Plain, certainty?: number): object => ({
    __typename: plain.className,
    ...plain.properties,
    ...Object.fromEntries(
      Object.entries(plain.references).map(([name, places]) => [
        name,
        // Class by class in the order of their fragments, null for none.
        (_: object, __: unknown, info: GraphQLResolveInfo) => {
          const rows = classesOf(info).flatMap((className) =>
            places.map((at) => objects[at] as Plain).filter((target) => target.className === className),
          );
          return rows.length === 0 ? null : rows.map((target) => targetOf(target));
        },
      ]),
    ),
    _additional: (_: object, __: unknown, info: GraphQLResolveInfo) => {
      const names = selectedNames(info);
      const hasAny = names.has("id") || names.has("vector") || (names.has("certainty") && certainty !== undefined);
      return hasAny
        ? { id: idOf(plain.index), vector: plain.vector ?? [], certainty: certainty && shortest(certainty) }
        : null;
    },
  });
  /** Of what others refer to `_additional` has the id only. */
  const targetOf = (plain: Plain): object => ({
    ...rowOf(plain),
    _additional: (_: object, __: unknown, info: GraphQLResolveInfo) =>
      selectedNames(info).has("id") ? { id: idOf(plain.index) } : null,
  });
  const search = (className: string) => (args: { limit?: number; offset?: number; nearVector?: NearArguments }) => {
    const { limit = 100, offset = 0, nearVector } = args;
    const all = objects.filter((plain) => plain.className === className);
    const page = <T>(rows: readonly T[]) => rows.filter((_, i) => i >= offset && i < offset + limit);
    if (nearVector === undefined) return page(all).map((plain) => rowOf(plain));
    const hits = all
      .filter(({ vector }) => vector !== undefined)
      .map(
        (plain) =>
          [plain, certaintyOf(Float32Array.from(plain.vector ?? []), Float32Array.from(nearVector.vector))] as const,
      )
      .filter(([, certainty]) => certainty >= (nearVector.certainty ?? 0));
    return page([...hits].sort(([, a], [, b]) => b - a)).map(([plain, certainty]) => rowOf(plain, certainty));
  };
  return { Get: Object.fromEntries(CLASSES.map((each) => [each.class, search(each.class)])) };
}

/** The shortest decimal that is read back as the float32. */
function shortest(value: number): number {
  return (
    [6, 7, 8, 9].map((digits) => Number(value.toPrecision(digits))).find((one) => Math.fround(one) === value) ?? value
  );
}

/** The selections of a field, fragments opened, those that are left out aside. */
function* selections({ fieldNodes, fragments, variableValues }: GraphQLResolveInfo) {
  const due: (SelectionSetNode | undefined)[] = fieldNodes.map((node) => node.selectionSet);
  for (let set = due.shift(); set !== undefined; set = due.shift()) {
    for (const selection of set.selections) {
      const isLeftOut = selection.directives?.some(({ name, arguments: [argument] = [] }) => {
        const { value } = argument ?? {};
        const condition =
          value?.kind === Kind.VARIABLE
            ? variableValues[value.name.value]
            : value?.kind === Kind.BOOLEAN && value.value;
        return condition === (name.value === "skip");
      });
      if (isLeftOut) continue;
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection;
      yield fragment ?? selection;
      if (fragment !== undefined && fragment.kind !== Kind.FIELD) due.push(fragment.selectionSet);
    }
  }
}

function selectedNames(info: GraphQLResolveInfo): ReadonlySet<string> {
  return new Set([...selections(info)].flatMap((one) => (one.kind === Kind.FIELD ? one.name.value : [])));
}

/** Classes of the fragments of a reference. */
function classesOf(info: GraphQLResolveInfo): readonly string[] {
  const conditions = [...selections(info)].flatMap((one) =>
    "typeCondition" in one ? (one.typeCondition?.name.value ?? []) : [],
  );
  return [...new Set(conditions)].filter((name) => name in SCALARS);
}

/** Writes valid requests. */
class Requests {
  #variables: Record<string, unknown> = {};
  #declared: string[] = [];
  #fragments: string[] = [];
  #aliases = 0;

  constructor(private readonly random: SeededRandom) {}

  next(): { readonly query: string; readonly variables: object } {
    this.#variables = {};
    this.#declared = [];
    this.#fragments = [];
    const roots = Array.from({ length: 1 + this.random.below(2) }, () => this.#root());
    const declared = this.#declared.length === 0 ? "" : `query(${this.#declared.join(", ")}) `;
    return { query: `${declared}{ ${roots.join(" ")} } ${this.#fragments.join(" ")}`, variables: this.#variables };
  }

  #root(): string {
    if (this.random.next() < 0.1) return `${this.#alias()}__typename`;
    const fields = Array.from({ length: 1 + this.random.below(2) }, () => {
      const { class: className } = this.random.pick(CLASSES);
      return `${this.#newAlias()}${className}${this.#arguments()}${this.#when()} ${this.#object(className, 0)}`;
    });
    if (this.random.next() < 0.1) fields.push("__typename");
    return `${this.#newAlias()}Get${this.#when()} { ${fields.join(" ")} }`;
  }

  #arguments(): string {
    const args: string[] = [];
    if (this.random.next() < 0.5) args.push(`limit: ${this.#value("Int", 1 + this.random.below(8))}`);
    if (this.random.next() < 0.3) args.push(`offset: ${this.#value("Int", this.random.below(5))}`);
    if (this.random.next() < 0.5) {
      const vector = this.#value("[Float]!", [this.random.next(), -1.5, this.random.below(3)]);
      const certainty = this.random.next() < 0.5 ? "" : `, certainty: ${this.#value("Float", 0.5)}`;
      args.push(`nearVector: {vector: ${vector}${certainty}}`);
    }
    return args.length === 0 ? "" : `(${args.join(", ")})`;
  }

  #object(className: string, depth: number): string {
    const members = Array.from({ length: 1 + this.random.below(4) }, () => this.#member(className, depth));
    return `{ ${members.join(" ")} }`;
  }

  #member(className: string, depth: number): string {
    const dice = this.random.next();
    if (dice < 0.1) return `${this.#alias()}__typename${this.#when()}`;
    if (dice < 0.3) {
      const names = ["id", "certainty", "vector", "__typename"].filter(() => this.random.next() < 0.5);
      return `${this.#alias()}_additional${this.#when()} { ${
        ["id", ...names]
          .slice(this.random.below(2))
          .map((name) => this.#alias() + name + this.#when())
          .join(" ") || "vector"
      } }`;
    }
    if (dice < 0.4 && depth < 3) return `...${this.#on(className, depth, this.random.next() < 0.5)}`;
    const references = Object.entries(REFERENCES[className] ?? {});
    if (dice < 0.65 && depth < 3) {
      const [name, targets] = this.random.pick(references);
      const fragments = Array.from(
        { length: 1 + this.random.below(2) },
        () => `...${this.#on(this.random.pick(targets), depth + 1, true)}`,
      );
      if (this.random.next() < 0.2) fragments.push("__typename");
      return `${this.#alias()}${name}${this.#when()} { ${fragments.join(" ")} }`;
    }
    const name = this.random.pick(SCALARS[className] ?? []);
    return `${this.#alias()}${name}${this.#when()}${name === "place" ? ` { ${this.#alias()}latitude${this.#when()} longitude${this.#when()} }` : ""}`;
  }

  /** An inline fragment, or the name of one. */
  #on(className: string, depth: number, isInline: boolean): string {
    if (isInline) return ` on ${className}${this.#when()} ${this.#object(className, depth)}`;
    const name = `F${this.#aliases++}`;
    this.#fragments.push(`fragment ${name} on ${className} ${this.#object(className, depth + 1)}`);
    return `${name}${this.#when()}`;
  }

  #when(): string {
    if (this.random.next() < 0.85) return "";
    return ` @${this.random.pick(["skip", "include"])}(if: ${this.#value("Boolean!", this.random.next() < 0.5)})`;
  }

  #value(type: string, value: unknown): string {
    if (this.random.next() < 0.6) return JSON.stringify(value);
    const name = `v${this.#declared.length}`;
    const isDefault = !type.endsWith("!") && this.random.next() < 0.3;
    this.#declared.push(`$${name}: ${type}${isDefault ? ` = ${JSON.stringify(value)}` : ""}`);
    if (!isDefault) this.#variables[name] = value;
    return `$${name}`;
  }

  #alias(): string {
    return this.random.next() < 0.3 ? this.#newAlias() : "";
  }

  #newAlias(): string {
    return `a${this.#aliases++}: `;
  }
}

it(`answers Get as graphql-js does over plain objects, prepared or not (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const objects = dataSet(random);
  const { schema } = buildGraphQlSchema(CLASSES, DEFAULT_GRAPHQL_LIMITS);
  if (schema === undefined) throw new Error("there are classes");
  const parts = {
    schema: new LibraryView(CLASSES),
    query: new ShelfQuery(objects.map(stored)),
    ...{ wire: SPEC_PROFILE, onFault: () => {} },
  };
  const doors = [new GraphQlHandler(parts), new GraphQlHandler({ ...parts, prepareQueries: false })];
  const requests = new Requests(random);
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const request = requests.next();
    const { query, variables } = request;
    const rootValue = resolvers(objects);
    const { data, errors } = await execute({
      schema,
      document: parse(query),
      variableValues: { ...variables },
      rootValue,
    });
    expect({ ...request, errors }).toEqual({ ...request, errors: undefined });
    const expected = `{"data":${JSON.stringify(data)},"errors":null}\n`;
    bytes += expected.length;
    for (const door of doors) {
      const { body } = await door.execute(Buffer.from(JSON.stringify(request)), CONTEXT);
      expect({ ...request, response: body.toString() }).toEqual({ ...request, response: expected });
    }
  }
  expect(bytes / ROUNDS).toBeGreaterThan(500);
});
