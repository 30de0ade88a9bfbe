import type { SchemaView, WriteRouter } from "@shoal/cluster";
import {
  type ClassDefinition,
  type ClassSettings,
  checkNewClass,
  DEFAULT_SCHEMA_LIMITS,
  extendClass,
  NO_MODULES,
  type ObjectId,
  type PropertyDefinition,
  type PutTimes,
  parseClass,
  type SchemaLimits,
  ShoalError,
  SPEC_PROFILE,
} from "@shoal/model";
import type {
  ClassPlan,
  ClassRecord,
  EnsuredClass,
  EnsuredProperties,
  SchemaSnapshot,
  ShardAddress,
  ShardService,
} from "@shoal/rpc";
import { type MemoryRow, type MemoryRows, memoryShards, type ShardRequest } from "@shoal/rpc/testing/memory-shards";
import type { RequestContext } from "@shoal/runtime";
import { seededRandom } from "@shoal/seeded-random";
import { createShardingState, Ring } from "@shoal/sharding";

/** Shards over Maps on several nodes, a schema that can be changed at will, and a coordinator that fixes dimensions. */
export class MemoryCluster implements SchemaView {
  snapshot: SchemaSnapshot = { historyId: "h", version: 0, classes: [] };
  now = 1_000;
  readonly rows = new Map<string, MemoryRows>();
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

  #rowsOf(shard: ShardAddress): MemoryRows {
    const key = `${shard.classId}/${shard.shardName}`;
    const known = this.rows.get(key);
    if (known !== undefined) return known;
    const rows: MemoryRows = new Map();
    this.rows.set(key, rows);
    return rows;
  }

  #createNode(name: string): ShardService {
    const enter = async (said: string) => {
      this.calls.push(`${name} ${said}`);
      await Promise.resolve();
      if (this.downNodes.has(name)) throw new ShoalError("unavailable", `node '${name}' is down`);
    };
    return memoryShards({
      rows: (shard) => this.#rowsOf(shard),
      properties: (className) => this.classRecord(className)?.definition.properties ?? [],
      shards: () => {
        const shards = this.snapshot.classes.flatMap((record) => this.shardsOf(record));
        return shards.filter((shard) => this.nodeNameOf(shard) === name);
      },
      isDown: ({ className }) => this.downShards.has(className),
      before: async (request) => {
        await enter(callOf(request));
        if (request.method === "putObjects" || request.method === "mergeObjects") this.beforePut(request.shard);
        if (request.method === "getObjects") await this.beforeGet(request.shard);
      },
      beforeFind: (ids) => enter(`find ${ids.length}`),
      nowUnix: () => this.now,
    });
  }
}

function callOf({ method, shard: { className }, size, mode }: ShardRequest): string {
  switch (method) {
    case "putObjects":
      return `put ${className} ${mode} ${size}`;
    case "mergeObject":
      return `merge ${className}`;
    case "mergeObjects":
      return `merge ${className} ${size}`;
    case "deleteObject":
      return `delete ${className}`;
    case "getObjects":
      return `get ${className} ${size}`;
    default:
      throw new Error(`${method} is not part of writes`);
  }
}
