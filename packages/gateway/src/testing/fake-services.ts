import type { ClassificationRecord, ClassificationService } from "@shoal/classification";
import type { SchemaView } from "@shoal/cluster";
import type { BatchOutcome, IngestService, ObjectInput, WrittenObject } from "@shoal/ingest";
import {
  type ClassDefinition,
  type JsonObject,
  type ObjectId,
  type Properties,
  type PropertyDefinition,
  parseObjectId,
  plainJsonObject,
  type RowFields,
  ShoalError,
  type StoredObject,
} from "@shoal/model";
import type { ListQuery, QueryService } from "@shoal/query";
import type { ClassRecord, SchemaService, SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** A change of references that was asked for. */
export interface ReferenceCall {
  readonly change: "add" | "replace" | "remove";
  readonly id: string;
  readonly property: string;
  readonly beacons: readonly string[];
}

/** The one classification that there is. */
export const RUNNING: ClassificationRecord = {
  basedOnProperties: ["name"],
  class: "Car",
  classifyProperties: ["maker"],
  id: "5b1d0f6e-7a0e-4a52-8f0c-1f0f4f2b9d11",
  meta: { completed: "0001-01-01T00:00:00.000Z", started: "2026-11-20T04:37:34.003Z" },
  settings: { k: 3 },
  status: "running",
  type: "knn",
};

/** Objects and classes in memory behind the gateway's services: as little as lets its responses be seen. */
export class FakeServices {
  readonly objects = new Map<ObjectId, StoredObject>();
  readonly inputs: ObjectInput[] = [];
  readonly references: ReferenceCall[] = [];
  readonly contexts: RequestContext[] = [];
  readonly lists: ListQuery[] = [];
  /** Thrown by the next call of any service. */
  failure: unknown;
  /** What every data call waits for. */
  gate: Promise<void> | undefined;
  /** Runs before each change of a class. */
  beforeUpdate: () => Promise<void> = () => Promise.resolve();
  now = 1_795_149_275_787;
  #records: ClassRecord[] = [];
  #version = 1;

  readonly view: SchemaView = ((services: FakeServices) => ({
    get snapshot(): SchemaSnapshot {
      return { historyId: "h", version: services.#version, classes: services.#records };
    },
    classRecord: (name: string) => services.#records.find(({ definition }) => definition.class === name),
    refresh: () => Promise.resolve(),
    onChange: () => ({ [Symbol.dispose]() {} }),
  }))(this);

  readonly query: QueryService = {
    additional: async (objects) => objects.map(() => []),
    get: async (_, context: RequestContext) => {
      await this.#enter(context);
      return [...this.objects.values()].map((object) => ({ id: object.id, object, certainty: undefined }));
    },
    objectById: async (id: ObjectId, fields: RowFields, context: RequestContext) => {
      await this.#enter(context);
      const object = this.objects.get(id);
      if (object !== undefined) context.rowBytes?.add(object.propertiesJson.length);
      return object && { ...object, vector: fields.vector ? object.vector : undefined };
    },
    explore: async () => {
      throw new ShoalError("internal", "the fake does not explore");
    },
    aggregate: async () => {
      throw new ShoalError("internal", "the fake does not aggregate");
    },
    list: async (query: ListQuery, context: RequestContext) => {
      await this.#enter(context);
      this.lists.push(query);
      for (const { propertiesJson, vector } of this.objects.values()) {
        context.rowBytes?.add(propertiesJson.length + (vector?.byteLength ?? 0));
      }
      return [...this.objects.values()];
    },
  };

  readonly classifications: ClassificationService = {
    start: async (_, context) => {
      await this.#enter(context);
      return RUNNING;
    },
    find: async (id, context) => {
      await this.#enter(context);
      return id === RUNNING.id ? RUNNING : undefined;
    },
  };

  readonly ingest: IngestService = {
    createObject: async (input, context) => {
      await this.#enter(context);
      return this.#store(input);
    },
    replaceObject: async (id, input, context) => {
      await this.#enter(context);
      return this.#store({ ...input, id });
    },
    mergeObject: async (_, input, context) => {
      await this.#enter(context);
      this.inputs.push(input);
    },
    deleteObject: async (id, context) => {
      await this.#enter(context);
      return this.objects.delete(id);
    },
    validateObject: async (input, context) => {
      await this.#enter(context);
      this.inputs.push(input);
    },
    importObjects: async (inputs, context) => {
      await this.#enter(context);
      return inputs.map((input) => this.#importOne(input));
    },
    addReference: async (id, property, beacon, context) => {
      await this.#enter(context);
      this.references.push({ change: "add", id, property, beacons: [beacon] });
    },
    replaceReferences: async (id, property, beacons, context) => {
      await this.#enter(context);
      this.references.push({ change: "replace", id, property, beacons });
    },
    removeReferences: async (id, property, beacons, context) => {
      await this.#enter(context);
      this.references.push({ change: "remove", id, property, beacons });
    },
    importReferences: async (inputs, context) => {
      await this.#enter(context);
      return inputs.map((input) =>
        input.from === "" ? { error: new ShoalError("invalid", "no source") } : { written: input },
      );
    },
  };

  readonly schema: SchemaService = {
    current: async () => this.view.snapshot,
    watch: () => ({ [Symbol.dispose]() {} }),
    addClass: async (definition) => this.addClass(definition),
    updateClass: async (definition, expectedVersion) => {
      await this.beforeUpdate();
      if (expectedVersion !== this.#version) throw new ShoalError("conflict", "another version");
      const known = this.view.classRecord(definition.class);
      if (known === undefined) throw new ShoalError("notFound", `could not find class '${definition.class}'`);
      const record = { ...known, definition };
      this.#records = this.#records.map((one) => (one === known ? record : one));
      this.#version++;
      return record;
    },
    addProperty: async (className, property) => this.#addProperty(className, property),
    ensureClass: () => Promise.reject(new ShoalError("internal", "not part of these tests")),
    ensureProperties: () => Promise.reject(new ShoalError("internal", "not part of these tests")),
    deleteClass: async ({ className }) => {
      if (this.view.classRecord(className) === undefined) {
        throw new ShoalError("notFound", `could not find class '${className}'`);
      }
      this.#records = this.#records.filter(({ definition }) => definition.class !== className);
      this.#version++;
    },
    fixDimensions: async (_, __, dimensions) => dimensions,
  };

  addClass(definition: ClassDefinition): ClassRecord {
    const sharding = { indexId: "x", config: definition.shardingConfig, physical: {}, virtual: [] };
    const record = { definition, sharding, classId: "c1", dimensions: undefined } as unknown as ClassRecord;
    this.#records = [...this.#records, record];
    this.#version++;
    return record;
  }

  /** A class with these properties, everything else at its default. */
  addClassNamed(name: string, properties: readonly PropertyDefinition[]): void {
    this.addClass({ class: name, properties } as unknown as ClassDefinition);
  }

  put(object: Partial<StoredObject> & { readonly id: ObjectId }, properties: string): void {
    this.objects.set(object.id, {
      className: "Car",
      creationTimeUnix: this.now,
      lastUpdateTimeUnix: this.now,
      propertiesJson: new TextEncoder().encode(properties),
      vector: undefined,
      extras: undefined,
      ...object,
    });
  }

  async #enter(context: RequestContext): Promise<void> {
    this.contexts.push(context);
    const failure = this.failure;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    await this.gate;
  }

  #store(input: ObjectInput): WrittenObject {
    this.inputs.push(input);
    const id = parseObjectId(input.id ?? "") ?? ("00000000-0000-4000-8000-000000000000" as ObjectId);
    const properties =
      input.properties === undefined ? undefined : (plainJsonObject(input.properties, "properties") as Properties);
    const { vector: sent } = input;
    const isList = Array.isArray(sent) || sent instanceof Float32Array;
    const vector = isList ? Float32Array.from(sent as ArrayLike<number>) : undefined;
    const extras: JsonObject | undefined =
      input.vectorWeights === undefined ? undefined : { vectorWeights: input.vectorWeights as JsonObject };
    const object = { id, className: input.className ?? "", properties, vector, extras };
    this.put({ id, className: object.className, vector }, JSON.stringify(properties ?? {}));
    return { object, creationTimeUnix: this.now, lastUpdateTimeUnix: this.now };
  }

  #importOne(input: ObjectInput | undefined): BatchOutcome {
    if (input?.className) return { written: this.#store(input) };
    const error = new ShoalError("invalid", "the given class is empty");
    return { error, id: input?.id ?? "00000000-0000-4000-8000-000000000001", input: input ?? EMPTY_INPUT };
  }

  #addProperty(className: string, property: PropertyDefinition): ClassRecord {
    const record = this.view.classRecord(className);
    if (record === undefined) throw new ShoalError("notFound", `could not find class '${className}'`);
    const properties = [...(record.definition.properties ?? []), property];
    const changed = { ...record, definition: { ...record.definition, properties } };
    this.#records = this.#records.map((one) => (one === record ? changed : one));
    return changed;
  }
}

const EMPTY_INPUT: ObjectInput = {
  id: undefined,
  className: undefined,
  properties: undefined,
  vector: undefined,
  vectorWeights: undefined,
  additional: undefined,
};
