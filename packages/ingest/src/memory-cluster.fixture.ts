import type { SchemaView, WriteRouter } from "@shoal/cluster";
import {
  CLIENT_PHRASES,
  type ClassDefinition,
  type ClassSettings,
  checkNewClass,
  type DataObject,
  DEFAULT_SCHEMA_LIMITS,
  extendClass,
  type JsonObject,
  NO_MODULES,
  type ObjectId,
  type ObjectMerge,
  type Properties,
  type PropertyDefinition,
  type PutMode,
  type PutTimes,
  parseClass,
  type SchemaLimits,
  ShoalError,
  SPEC_PROFILE,
  type StoredObject,
  withoutReferences,
} from "@shoal/model";
import type {
  ClassPlan,
  ClassRecord,
  EnsuredClass,
  EnsuredProperties,
  FoundObjects,
  SchemaSnapshot,
  ShardAddress,
  ShardService,
} from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { seededRandom } from "@shoal/seeded-random";
import { createShardingState, Ring } from "@shoal/sharding";

export interface MemoryRow {
  readonly object: DataObject;
  readonly times: PutTimes;
}

/** Shards over Maps on several nodes, a schema that can be changed at will, and a coordinator that fixes dimensions. */
export class MemoryCluster implements SchemaView {
  snapshot: SchemaSnapshot = { historyId: "h", version: 0, classes: [] };
  now = 1_000;
  readonly rows = new Map<string, Map<ObjectId, MemoryRow>>();
  /** Every request to a node, as `node method shard`; batches with the number of objects. */
  readonly calls: string[] = [];
  readonly downNodes = new Set<string>();
  /** Classes whose shards cannot be asked whether they have an object. */
  readonly downShards = new Set<string>();
  /** Runs before every read of objects and may throw, or take its time. */
  beforeGet: (shard: ShardAddress) => void | Promise<void> = () => {};
  /** Runs before every put and may throw. */
  beforePut: (shard: ShardAddress) => void = () => {};
  /** Runs before every class or property that is ensured and may throw. */
  beforeEnsure: () => Promise<void> = () => Promise.resolve();
  /** The first version without a class that was deleted. */
  readonly #gone = new Map<string, number>();
  schemaChanges = 0;
  schemaLimits: SchemaLimits = DEFAULT_SCHEMA_LIMITS;
  fixCalls = 0;
  fixFailure: ShoalError | undefined;
  readonly #dimensions = new Map<string, number>();
  readonly #rings = new Map<string, Ring>();
  readonly #nodes = new Map<string, ShardService>();

  constructor(
    readonly nodeNames: readonly string[],
    readonly shardsPerClass: number,
  ) {
    for (const name of nodeNames) this.#nodes.set(name, this.#createNode(name));
  }

  get classSettings(): ClassSettings {
    return {
      profile: SPEC_PROFILE,
      defaultVectorizer: "none",
      nodeCount: this.shardsPerClass,
      modules: NO_MODULES,
    };
  }

  addClass(body: object): ClassRecord {
    const schema = this.snapshot.classes.map((record) => record.definition);
    return this.addDefinition(parseClass(body, schema, this.classSettings));
  }

  addDefinition(definition: ClassDefinition): ClassRecord {
    const { desiredCount, virtualPerPhysical } = definition.shardingConfig;
    const { bytes } = seededRandom(this.snapshot.version + 1);
    const sharding = createShardingState({ desiredCount, virtualPerPhysical, nodeNames: this.nodeNames }, bytes);
    const record: ClassRecord = { definition, sharding, classId: `id-${definition.class}`, dimensions: undefined };
    this.#rings.set(record.classId, new Ring(sharding));
    this.snapshot = { historyId: "h", version: this.snapshot.version + 1, classes: [...this.snapshot.classes, record] };
    return record;
  }

  /** What the coordinator knows reaches the schema view. */
  publishDimensions(): void {
    const classes = this.snapshot.classes.map((record) => ({
      ...record,
      dimensions: this.#dimensions.get(record.classId),
    }));
    this.snapshot = { historyId: "h", version: this.snapshot.version + 1, classes };
  }

  classRecord(className: string): ClassRecord | undefined {
    return this.snapshot.classes.find((record) => record.definition.class === className);
  }

  async refresh(): Promise<void> {}

  onChange(): Disposable {
    return { [Symbol.dispose]: () => {} };
  }

  shardOf(record: ClassRecord, id: ObjectId): ShardAddress {
    const shard = this.#rings.get(record.classId)?.shardOf(id);
    if (shard === undefined) throw new Error("no ring");
    return { classId: record.classId, className: record.definition.class, shardName: shard.name };
  }

  shardsOf(record: ClassRecord): readonly ShardAddress[] {
    const { classId, definition, sharding } = record;
    return sharding.shards.map(({ name }) => ({ classId, className: definition.class, shardName: name }));
  }

  nodeNameOf(shard: ShardAddress): string {
    const record = this.snapshot.classes.find((known) => known.classId === shard.classId);
    return record?.sharding.shards.find(({ name }) => name === shard.shardName)?.members[0] ?? "";
  }

  /** The nodes as writes ask for them; a shard may be lost while the schema is not. */
  readonly router: WriteRouter = {
    isLost: (shard) => this.downNodes.has(this.nodeNameOf(shard)),
    shardOf: (record, id) => this.shardOf(record, id),
    shardsOf: (record) => this.shardsOf(record),
    node: (shard) => this.node(shard),
  };

  node(shard: ShardAddress): ShardService {
    const node = this.#nodes.get(this.nodeNameOf(shard));
    if (node === undefined) throw new ShoalError("unavailable", `no node for shard '${shard.shardName}'`);
    return node;
  }

  async fixDimensions(_name: string, classId: string, dimensions: number, _context: RequestContext): Promise<number> {
    this.fixCalls++;
    await Promise.resolve();
    if (this.fixFailure !== undefined) throw this.fixFailure;
    const held = this.#dimensions.get(classId) ?? dimensions;
    this.#dimensions.set(classId, held);
    return held;
  }

  async current(_context: RequestContext): Promise<SchemaSnapshot> {
    await Promise.resolve();
    return this.snapshot;
  }

  /** As the coordinator does it; `schemaChanges` counts what was really changed. */
  async ensureClass(
    definition: ClassDefinition,
    context: RequestContext,
    { plannedVersion = Number.POSITIVE_INFINITY }: ClassPlan = {},
  ): Promise<EnsuredClass> {
    await this.beforeEnsure();
    if ((this.#gone.get(definition.class) ?? 0) > plannedVersion) {
      throw new ShoalError("conflict", `class '${definition.class}' was deleted since`);
    }
    const known = this.classRecord(definition.class);
    if (known !== undefined) return { record: known, isMade: false };
    context.signal?.throwIfAborted();
    checkNewClass(definition, this.#definitions(), this.schemaLimits);
    this.schemaChanges++;
    const record = this.addDefinition(JSON.parse(JSON.stringify(definition)) as ClassDefinition);
    return { record, isMade: true };
  }

  async ensureProperties(
    className: string,
    classId: string,
    properties: readonly PropertyDefinition[],
    _context: RequestContext,
  ): Promise<EnsuredProperties> {
    await this.beforeEnsure();
    const known = this.classRecord(className);
    if (known?.classId === classId) {
      const record = this.#extend(known, properties);
      const added = (record.definition.properties ?? []).slice(known.definition.properties?.length ?? 0);
      return { record, added: added.map(({ name }) => name) };
    }
    throw new ShoalError("notFound", `could not find class '${className}'`);
  }

  deleteClass(className: string): void {
    const classes = this.snapshot.classes.filter(({ definition }) => definition.class !== className);
    this.snapshot = { historyId: "h", version: this.snapshot.version + 1, classes };
    this.#gone.set(className, this.snapshot.version);
  }

  #extend(known: ClassRecord, properties: readonly PropertyDefinition[]): ClassRecord {
    const definition = extendClass(known.definition, properties, this.#definitions(), this.schemaLimits);
    if (definition === known.definition) return known;
    this.schemaChanges++;
    const record = { ...known, definition };
    const classes = this.snapshot.classes.map((one) => (one === known ? record : one));
    this.snapshot = { historyId: "h", version: this.snapshot.version + 1, classes };
    return record;
  }

  #definitions(): ClassDefinition[] {
    return this.snapshot.classes.map(({ definition }) => definition);
  }

  row(className: string, id: string): MemoryRow | undefined {
    for (const [key, rows] of this.rows) {
      const row = key.startsWith(`id-${className}/`) ? rows.get(id as ObjectId) : undefined;
      if (row !== undefined) return row;
    }
    return undefined;
  }

  /** Puts a row past all checks. */
  plant(record: ClassRecord, id: ObjectId, times: PutTimes = { creationTimeUnix: 1, lastUpdateTimeUnix: 1 }): void {
    const object = {
      id,
      className: record.definition.class,
      properties: {},
      vector: Float32Array.of(1, 2),
      extras: undefined,
    };
    this.#rowsOf(this.shardOf(record, id)).set(id, { object, times });
  }

  #rowsOf(shard: ShardAddress): Map<ObjectId, MemoryRow> {
    const key = `${shard.classId}/${shard.shardName}`;
    const known = this.rows.get(key);
    if (known !== undefined) return known;
    const rows = new Map<ObjectId, MemoryRow>();
    this.rows.set(key, rows);
    return rows;
  }

  #createNode(name: string): ShardService {
    const enter = async (method: string, detail: string) => {
      this.calls.push(`${name} ${method} ${detail}`);
      await Promise.resolve();
      if (this.downNodes.has(name)) throw new ShoalError("unavailable", `node '${name}' is down`);
    };
    const unused = () => Promise.reject(new Error("not part of writes"));
    return {
      putObjects: async (shard, objects, mode) => {
        await enter("put", `${shard.className} ${mode} ${objects.length}`);
        this.beforePut(shard);
        return objects.map((object) => this.#put(this.#rowsOf(shard), object, mode));
      },
      mergeObject: async (shard, merge) => {
        await enter("merge", shard.className);
        return this.#merge(this.#rowsOf(shard), merge);
      },
      deleteObject: async (shard, id) => {
        await enter("delete", shard.className);
        return this.#rowsOf(shard).delete(id);
      },
      mergeObjects: async (shard, merges) => {
        await enter("merge", `${shard.className} ${merges.length}`);
        this.beforePut(shard);
        return merges.map((merge) => this.#mergeOne(shard, merge));
      },
      findObjects: async (ids) => {
        await enter("find", String(ids.length));
        return this.#find(name, ids);
      },
      getObjects: async (shard, ids) => {
        await enter("get", `${shard.className} ${ids.length}`);
        await this.beforeGet(shard);
        const rows = this.#rowsOf(shard);
        return ids.map((id) => {
          const row = rows.get(id);
          return row && storedForm(row);
        });
      },
      searchByVector: unused,
      matchingIds: unused,
      aggregate: unused,
      listObjects: unused,
      shardStatuses: unused,
      shardRecalls: unused,
    };
  }

  /** In the shards of one node; one of `downShards` cannot be asked. */
  #find(nodeName: string, ids: readonly ObjectId[]): FoundObjects {
    const shards = this.snapshot.classes.flatMap((record) => this.shardsOf(record));
    const here = shards.filter((shard) => this.nodeNameOf(shard) === nodeName);
    const asked = here.filter(({ className }) => !this.downShards.has(className));
    const unasked = here.flatMap((shard) => {
      const error = new ShoalError("unavailable", `a shard of '${shard.className}' is down`);
      return asked.includes(shard) ? [] : [{ shard, error }];
    });
    return { holders: ids.map((id) => asked.filter((shard) => this.#rowsOf(shard).has(id))), unasked };
  }

  #mergeOne(shard: ShardAddress, merge: ObjectMerge): PutTimes | ShoalError {
    try {
      return this.#merge(this.#rowsOf(shard), merge);
    } catch (thrown) {
      return ShoalError.from(thrown);
    }
  }

  #put(rows: Map<ObjectId, MemoryRow>, object: DataObject, mode: PutMode): PutTimes | ShoalError {
    const old = rows.get(object.id);
    if (mode === "create" && old !== undefined)
      return new ShoalError("conflict", CLIENT_PHRASES.idAlreadyExists(object.id));
    if (mode === "replace" && old === undefined) return new ShoalError("notFound", `no object with id '${object.id}'`);
    const creationTimeUnix = mode === "replace" ? (old?.times.creationTimeUnix ?? this.now) : this.now;
    const times = { creationTimeUnix, lastUpdateTimeUnix: this.now };
    rows.set(object.id, { object, times });
    return times;
  }

  #merge(rows: Map<ObjectId, MemoryRow>, merge: ObjectMerge): StoredObject {
    const old = rows.get(merge.id);
    if (old === undefined) throw new ShoalError("notFound", `no object with id '${merge.id}'`);
    const properties: Record<string, Properties[string]> = { ...old.object.properties, ...merge.set };
    for (const name of merge.clear) delete properties[name];
    for (const [name, list] of Object.entries(merge.append)) {
      const before = properties[name];
      properties[name] = [...(Array.isArray(before) ? before : []), ...list];
    }
    for (const [name, ids] of Object.entries(merge.remove)) properties[name] = withoutReferences(properties[name], ids);
    const additional = { ...(old.object.extras?.additional as JsonObject), ...merge.additional };
    const extras = merge.additional === undefined ? old.object.extras : { ...old.object.extras, additional };
    const object = { ...old.object, properties, vector: merge.vector ?? old.object.vector, extras };
    const row = { object, times: { ...old.times, lastUpdateTimeUnix: this.now } };
    rows.set(merge.id, row);
    return storedForm(row);
  }
}

function storedForm({ object, times }: MemoryRow): StoredObject {
  return { ...object, ...times, propertiesJson: new TextEncoder().encode(JSON.stringify(object.properties)) };
}
