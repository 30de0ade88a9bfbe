import type { SchemaView } from "@shoal/cluster";
import {
  type AggregateGroup,
  type AggregateQuery,
  type ClassDefinition,
  decodeProperties,
  type ExploreQuery,
  type GetQuery,
  objectIdFromBytes,
  type Properties,
  type PropertyDefinition,
  parseShortBeacon,
  type ReferenceSelection,
  ShoalError,
  type StoredObject,
} from "@shoal/model";
import type { ExploreRow, GetRow, QueryService, ReferencedRow } from "@shoal/query";
import type { ClassRecord, SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { aggregateObjects } from "./aggregate-objects.js";

/** Answers queries with rows that depend on the query alone, and writes down what it was asked. */
export class LibraryQuery implements QueryService {
  additional(): Promise<never> {
    return Promise.reject(new ShoalError("internal", "the library has no modules"));
  }

  readonly asked: (GetQuery | ExploreQuery | AggregateQuery)[] = [];

  /** Of what it was asked, the Gets. */
  get gets(): readonly GetQuery[] {
    return this.asked.filter((asked): asked is GetQuery => "fields" in asked);
  }

  readonly #objects: Readonly<Record<string, readonly StoredObject[]>>;

  constructor(objects: Readonly<Record<string, readonly StoredObject[]>> = LIBRARY_OBJECTS) {
    this.#objects = objects;
  }

  async get(query: GetQuery, context?: RequestContext): Promise<readonly GetRow[]> {
    this.asked.push(query);
    const { limit = 100, offset = 0, nearVector, nearObject, fields } = query;
    const isNear = nearVector !== undefined || nearObject !== undefined;
    if (nearVector && nearObject)
      throw new ShoalError("invalid", "found both 'nearVector' and 'nearObject' parameters");
    if (limit < 0) throw new ShoalError("invalid", `limit must be 0 or more, got "${limit}"\n(é)`);
    if (nearVector?.vector.length === 1) throw new ShoalError("unavailable", "node 'n1' of shard 'S' is away");
    const shift = nearVector === undefined ? 0.25 : Math.abs(nearVector.vector[0] ?? 0) % 1;
    const rows = (this.#objects[query.className] ?? []).slice(offset, offset + limit).map((object, i) => ({
      id: object.id,
      certainty: isNear ? (i === 3 ? Number.NaN : Math.fround(1 - shift / (i + 3))) : undefined,
      object:
        fields.properties || fields.vector || fields.extras
          ? {
              ...object,
              propertiesJson: fields.properties ? object.propertiesJson : NO_PROPERTIES,
              vector: fields.vector ? object.vector : undefined,
              extras: fields.extras ? object.extras : undefined,
            }
          : undefined,
      ...(query.references === undefined ? {} : { references: this.#targets(object, query.references) }),
    }));
    for (const { object } of rows) {
      context?.rowBytes?.add((object?.propertiesJson.length ?? 0) + (object?.vector?.byteLength ?? 0));
    }
    return rows;
  }

  /** Plainly: for each reference of each row, the object of that id in the first class that is asked for. */
  #targets(
    object: StoredObject,
    selections: readonly ReferenceSelection[],
  ): ReadonlyMap<string, readonly ReferencedRow[]> {
    const resolved = new Map<string, readonly ReferencedRow[]>();
    for (const { property: name, targets } of selections) {
      const stored = decodeProperties(object)[name];
      const ids = (Array.isArray(stored) ? stored : []).map(({ beacon }) => parseShortBeacon(beacon).id);
      const rows = targets.flatMap(({ className, references }) =>
        ids.flatMap((id) => {
          const target = this.#objects[className]?.find((each) => each.id === id);
          return target === undefined
            ? []
            : { id: target.id, object: target, references: this.#targets(target, references) };
        }),
      );
      if (rows.length > 0) resolved.set(name, rows);
    }
    return resolved;
  }

  async objectById(): Promise<never> {
    throw new ShoalError("internal", "GraphQL asks for no object by its id");
  }

  async explore(query: ExploreQuery, context?: RequestContext): Promise<readonly ExploreRow[]> {
    this.asked.push(query);
    const { nearVector, nearObject, limit, offset = 0 } = query;
    if (nearVector?.vector.length === 1) throw new ShoalError("unavailable", "node 'n1' of shard 'S' is away");
    if (nearVector === undefined && nearObject === undefined) {
      throw new ShoalError("invalid", "invalid params: received no search params");
    }
    context?.rowBytes?.add(100);
    return Object.values(this.#objects)
      .flat()
      .slice(offset, offset + (limit || 20))
      .map(({ id, className }, i) => ({ id, className, certainty: i === 2 ? Number.NaN : Math.fround(1 / (i + 1)) }));
  }

  async aggregate(query: AggregateQuery): Promise<readonly AggregateGroup[]> {
    this.asked.push(query);
    if ((query.limit ?? 1) < 0) throw new ShoalError("invalid", `limit must be 0 or more, got "${query.limit}"\n(é)`);
    return aggregateObjects(this.#objects[query.className] ?? [], query);
  }

  async list(): Promise<readonly StoredObject[]> {
    throw new ShoalError("internal", "GraphQL does not list");
  }
}

const NO_PROPERTIES = Buffer.from("{}");

/** A schema that tests change. */
export class LibraryView implements SchemaView {
  snapshot: SchemaSnapshot;

  constructor(classes: readonly ClassDefinition[]) {
    this.snapshot = { historyId: "h", version: 1, classes: classes.map(record) };
  }

  change(classes: readonly ClassDefinition[]): void {
    this.snapshot = { historyId: "h", version: this.snapshot.version + 1, classes: classes.map(record) };
  }

  classRecord(className: string): ClassRecord | undefined {
    return this.snapshot.classes.find(({ definition }) => definition.class === className);
  }

  async refresh(): Promise<void> {}

  onChange(): Disposable {
    return { [Symbol.dispose]() {} };
  }
}

function record(definition: ClassDefinition): ClassRecord {
  return {
    definition,
    classId: `id-${definition.class}`,
    dimensions: undefined,
    sharding: {} as ClassRecord["sharding"],
  };
}

export function libraryClass(name: string, properties: readonly PropertyDefinition[] | null): ClassDefinition {
  return {
    class: name,
    invertedIndexConfig: { cleanupIntervalSeconds: 60 },
    properties,
    shardingConfig: {
      virtualPerPhysical: 128,
      desiredCount: 1,
      actualCount: 1,
      desiredVirtualCount: 128,
      actualVirtualCount: 128,
      key: "_id",
      strategy: "hash",
      function: "murmur3",
    },
    vectorIndexConfig: {
      skip: false,
      cleanupIntervalSeconds: 300,
      maxConnections: 64,
      efConstruction: 128,
      ef: -1,
      vectorCacheMaxObjects: 500_000,
      flatSearchCutoff: 40_000,
    },
    vectorIndexType: "hnsw",
    vectorizer: "none",
  };
}

export function property(name: string, ...dataType: readonly string[]): PropertyDefinition {
  return { name, dataType };
}

export const BOOK = libraryClass("Book", [
  property("title", "text"),
  property("isbn", "string"),
  property("pages", "int"),
  property("price", "number"),
  property("inPrint", "boolean"),
  property("published", "date"),
  property("cover", "blob"),
  property("place", "geoCoordinates"),
  property("phone", "phoneNumber"),
  property("tags", "string[]"),
  property("ratings", "number[]"),
  property("years", "int[]"),
  property("flags", "boolean[]"),
  property("writtenBy", "Author"),
]);
export const AUTHOR = libraryClass("Author", [property("name", "string"), property("born", "int")]);
export const EMPTY = libraryClass("Shelf_2", null);

export const LIBRARY_CLASSES = [BOOK, AUTHOR, EMPTY];

export function storedObject(
  className: string,
  index: number,
  properties: Properties,
  more: Partial<StoredObject> = {},
): StoredObject {
  const bytes = Buffer.alloc(16, index + 1);
  const sorted = Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    id: objectIdFromBytes(bytes),
    className,
    creationTimeUnix: 1,
    lastUpdateTimeUnix: 2,
    propertiesJson: Buffer.from(JSON.stringify(sorted)),
    vector: undefined,
    extras: undefined,
    ...more,
  };
}

const AUTHORS = ["Leo", "Jörg", 'a "quoted" name'].map((name, i) =>
  storedObject("Author", 100 + i, { name, born: 1800 + i }),
);

const BOOKS = [
  storedObject(
    "Book",
    0,
    {
      title: 'War & "Peace"\n\\ \u2028 – ünï 🐟',
      isbn: "",
      pages: 3_000_000_000,
      price: 12.5,
      inPrint: true,
      published: "2020-01-01T00:00:00Z",
      cover: "aGk=",
      place: { latitude: 51.225555, longitude: -1e-7 },
      phone: {
        input: "+311234567",
        internationalFormatted: "+31 1234567",
        nationalFormatted: "1234567",
        national: 1234567,
        valid: false,
        countryCode: 31,
        defaultCountry: "",
      },
      tags: ["a", 'b"]}'],
      ratings: [1, 2.5, -3e21],
      years: [],
      flags: [true, false],
      writtenBy: [
        { beacon: `svc://localhost/${AUTHORS[1]?.id}`, href: "x" },
        { beacon: `svc://localhost/${AUTHORS[0]?.id}` },
        { beacon: "svc://localhost/00000000-0000-0000-0000-000000000000" },
      ],
    },
    {
      vector: Float32Array.of(0.1, -0.25, 1e-9, 0, 3.4e38),
      extras: {
        additional: {
          classification: {
            id: "c1",
            basedOn: ["title"],
            scope: ["x"],
            classifiedFields: [],
            completed: "2021-11-30T10:00:00.000Z",
          },
        },
      },
    },
  ),
  storedObject("Book", 1, { title: "x".repeat(500), place: { latitude: 1, longitude: 2 } }),
  storedObject("Book", 2, {}, { vector: Float32Array.of(1, 2, 3), extras: { vectorWeights: null } }),
  storedObject("Book", 3, { pages: -5, title: "" }),
  storedObject("Book", 4, { title: `${"y".repeat(60)}\\"`, writtenBy: [] }),
];

export const LIBRARY_OBJECTS: Readonly<Record<string, readonly StoredObject[]>> = {
  Book: BOOKS,
  Author: AUTHORS,
  Shelf_2: [storedObject("Shelf_2", 50, {})],
};
