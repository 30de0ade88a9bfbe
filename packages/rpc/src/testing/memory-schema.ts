import { type ClassDefinition, type PropertyDefinition, ShoalError } from "@shoal/model";
import type {
  ClassIncarnation,
  ClassRecord,
  EnsuredClass,
  EnsuredProperties,
  SchemaSnapshot,
  ServedSchema,
} from "../schema-service.js";

/** A schema in memory, with as much sense as tests of the way to it need. */
export class MemorySchema implements ServedSchema {
  readonly #listeners = new Set<(snapshot: SchemaSnapshot) => void>();
  #snapshot: SchemaSnapshot;
  #nextId = 1;
  /** Ids of the changes whose callers have had their responses. */
  readonly settled: string[] = [];

  constructor(historyId = "history-1") {
    this.#snapshot = { historyId, version: 1, classes: [] };
  }

  async current(): Promise<SchemaSnapshot> {
    return this.#snapshot;
  }

  watch(listener: (snapshot: SchemaSnapshot) => void): Disposable {
    this.#listeners.add(listener);
    listener(this.#snapshot);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async addClass(definition: ClassDefinition): Promise<ClassRecord> {
    if (this.#find(definition.class) !== undefined) {
      throw new ShoalError("invalid", `class name '${definition.class}' already exists`);
    }
    const sharding = { shards: [{ name: "s", members: ["node-1"] }], virtualShards: ["v"], assignments: [0] };
    const record = { definition, sharding, classId: `c${this.#nextId++}`, dimensions: undefined };
    this.#swap([...this.#snapshot.classes, record]);
    return record;
  }

  async updateClass(definition: ClassDefinition, expectedVersion: number): Promise<ClassRecord> {
    if (expectedVersion !== this.#snapshot.version) {
      throw new ShoalError("conflict", `the schema is at version ${this.#snapshot.version}`);
    }
    return this.#replace(definition.class, { definition });
  }

  addProperty(className: string, property: PropertyDefinition): Promise<ClassRecord> {
    return this.#extend(className, [property]);
  }

  async ensureClass(definition: ClassDefinition): Promise<EnsuredClass> {
    const known = this.#find(definition.class);
    if (known !== undefined) return { record: known, isMade: false };
    return { record: await this.addClass(definition), isMade: true };
  }

  async ensureProperties(
    className: string,
    _classId: string,
    properties: readonly PropertyDefinition[],
  ): Promise<EnsuredProperties> {
    const known = this.#known(className).definition.properties?.length ?? 0;
    const record = await this.#extend(className, properties);
    return { record, added: (record.definition.properties ?? []).slice(known).map(({ name }) => name) };
  }

  async deleteClass({ className, classId }: ClassIncarnation): Promise<void> {
    const record = this.#known(className);
    if (record.classId !== classId) throw new ShoalError("conflict", `class '${className}' is another one meanwhile`);
    this.#swap(this.#snapshot.classes.filter((one) => one !== record));
  }

  async settle(changeId: string): Promise<void> {
    this.settled.push(changeId);
  }

  async restore({ clusterId = "", classes }: SchemaSnapshot): Promise<void> {
    this.#snapshot = { ...this.#snapshot, clusterId };
    this.#swap(classes);
  }

  async fixDimensions(className: string, _classId: string, dimensions: number): Promise<number> {
    const known = this.#known(className).dimensions;
    if (known === undefined) await this.#replace(className, { dimensions });
    return known ?? dimensions;
  }

  async #extend(className: string, added: readonly PropertyDefinition[]): Promise<ClassRecord> {
    const { definition } = this.#known(className);
    const properties = definition.properties ?? [];
    const names = new Set(properties.map(({ name }) => name));
    const missing = added.filter(({ name }) => !names.has(name) && names.add(name));
    return this.#replace(className, { definition: { ...definition, properties: [...properties, ...missing] } });
  }

  async #replace(className: string, change: Partial<ClassRecord>): Promise<ClassRecord> {
    const before = this.#known(className);
    const record = { ...before, ...change };
    this.#swap(this.#snapshot.classes.map((one) => (one === before ? record : one)));
    return record;
  }

  #find(className: string): ClassRecord | undefined {
    return this.#snapshot.classes.find(({ definition }) => definition.class === className);
  }

  #known(className: string): ClassRecord {
    const record = this.#find(className);
    if (record !== undefined) return record;
    throw new ShoalError("notFound", `could not find class '${className}'`);
  }

  #swap(classes: readonly ClassRecord[]): void {
    this.#snapshot = { ...this.#snapshot, version: this.#snapshot.version + 1, classes };
    for (const listener of this.#listeners) listener(this.#snapshot);
  }
}
