import {
  CLIENT_PHRASES,
  type ClassDefinition,
  checkNewClass,
  checkNewProperty,
  checkPropertyCount,
  checkShardCount,
  extendClass,
  NONE_SHOWN,
  type PropertyDefinition,
  type SchemaLimits,
  type ShardLimit,
  ShoalError,
  withFactor,
} from "@shoal/model";
import {
  type ChangeContext,
  type ClassIncarnation,
  type ClassPlan,
  type ClassRecord,
  type EnsuredClass,
  type EnsuredProperties,
  isComplete,
  type SchemaSnapshot,
  type ServedSchema,
  WatchedValue,
} from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { ShardingState } from "@shoal/sharding";
import { decideDeletion, decideOnDrops, decideRepetition, isSameDefinition, type Verdict } from "./decide-change.js";
import { forgetGoneClasses, isGoneSince } from "./gone-classes.js";
import type { Ledger, LedgerChange } from "./ledger.js";
import type { MetaState } from "./meta-store.js";
import { newCopies, readNodes } from "./node-registry.js";
import {
  type ChangeCaller,
  type ChangeSubject,
  changeCaller,
  forgotten,
  type OpenChange,
  putOpenChange,
  readOpenChanges,
  removeOpenChanges,
} from "./open-changes.js";
import { restoredSchema } from "./restored-schema.js";
import { beginHistory, clusterIdOf } from "./stored-history.js";
import {
  definitionsOf,
  isSameSchema,
  otherChanges,
  putClass,
  readSchema,
  refuseTooLarge,
  type StoredClass,
  type StoredSchema,
  schemaChanges,
  shardCount,
} from "./stored-schema.js";

const RESULT_MS_MAX = 10_000;
const RELEASE_MS_MAX = 1_000;

/** Nodes that are started together register within seconds. */
const INCOMPLETE_RETRY_SECONDS = 2;

export interface SchemaCoordinatorOptions {
  readonly ledger: Ledger;
  /** So many storage nodes must have registered before a class is made. */
  readonly expectedStorageNodes: number;
  /** Copies of each object of classes that do not say how many (`REPLICATION_FACTOR`); 1 when absent. */
  readonly defaultFactor?: number;
  /** Draws the shards of a new class and places them on these nodes: each on as many as its factor says. */
  readonly createSharding: (definition: ClassDefinition, nodeNames: readonly string[]) => ShardingState;
  /** A name that was never given before, fit for a folder. */
  readonly newClassId: () => string;
  /** What the schema may grow to; a stored one that is larger stays as it is. */
  readonly limits: SchemaLimits;
  readonly shardLimit: ShardLimit;
  /** Fails with `overloaded` when there is no memory for so many shards more. Absent: it is not this process that holds them. */
  readonly checkRoom?: ((shards: number) => void) | undefined;
  /** So long does a change wait for storage nodes, or for another change, before it is answered with an error. */
  readonly responseMsMax?: number;
}

/** The one writer of the schema: every change is one compare-and-set commit in the MetaStore. */
export class SchemaCoordinator implements ServedSchema, Disposable {
  readonly #options: SchemaCoordinatorOptions;
  readonly #subscription: Disposable;
  readonly #snapshot: WatchedValue<SchemaSnapshot>;
  /** The state that was read last, and what was read. */
  #state: MetaState;
  #schema: StoredSchema;
  /** Id of the history that comes with the next change. */
  #beginning: string | undefined;

  constructor(options: SchemaCoordinatorOptions) {
    const { ledger } = options;
    this.#options = options;
    this.#state = ledger.state;
    this.#schema = readSchema(ledger.historyId, ledger.state);
    this.#snapshot = new WatchedValue(this.#schema.snapshot);
    this.#subscription = ledger.onState((state) => this.#follow(state));
  }

  /**
   * Begins a history that goes on from what is stored: before anything is served, as the store may be a backup that was put
   * back. When it fails with `unavailable`, the first change begins it.
   */
  async begin(historyId: string, context: RequestContext): Promise<void> {
    this.#beginning = historyId;
    await this.#change(context, () => ({ changes: [], result: undefined }));
  }

  /** The cluster that the store belongs to. */
  get clusterId(): string {
    const { ledger } = this.#options;
    return clusterIdOf(ledger.historyId, ledger.state);
  }

  async current(_context: RequestContext): Promise<SchemaSnapshot> {
    await this.#options.ledger.current();
    return this.#snapshot.known;
  }

  watch(listener: (snapshot: SchemaSnapshot) => void): Disposable {
    return this.#snapshot.watch(listener);
  }

  addClass(definition: ClassDefinition, context: ChangeContext, plan: ClassPlan = {}): Promise<ClassRecord> {
    const caller = this.#callerOf(context);
    return this.#decided(context, (schema, state) => {
      refuseGoneClass(definition.class, plan, state);
      return this.#newClass(definition, schema, state, plan, caller);
    });
  }

  ensureClass(definition: ClassDefinition, context: ChangeContext, plan: ClassPlan = {}): Promise<EnsuredClass> {
    const caller = this.#callerOf(context);
    return this.#decided<EnsuredClass>(context, (schema, state) => {
      refuseGoneClass(definition.class, plan, state);
      const stored = schema.classes.get(definition.class);
      if (stored !== undefined) {
        const { record } = stored;
        // A request that comes once more finds what it has made.
        const isMade = ownChange(state, caller, record)?.kind === "class";
        return { changes: [], result: { result: { record, isMade } } };
      }
      const { changes, result: verdict } = this.#newClass(definition, schema, state, plan, caller);
      if (!("result" in verdict)) return { changes, result: verdict };
      return { changes, result: { result: { record: verdict.result, isMade: true } } };
    });
  }

  ensureProperties(
    className: string,
    classId: string,
    properties: readonly PropertyDefinition[],
    context: ChangeContext,
  ): Promise<EnsuredProperties> {
    const caller = this.#callerOf(context);
    return this.#change(context, (schema, state) => {
      const stored = storedClass(schema, className, classId);
      const own = ownChange(state, caller, stored.record)?.properties;
      if (own !== undefined) return { changes: [], result: { record: stored.record, added: own } };
      const { changes, result: record } = this.#extended(stored, properties, schema);
      const known = stored.record.definition.properties?.length ?? 0;
      const added = (record.definition.properties ?? []).slice(known).map(({ name }) => name);
      const subject = { kind: "properties", className, classId, properties: added } as const;
      const open = caller === undefined || added.length === 0 ? [] : [putOpenChange(caller, subject)];
      return { changes: [...changes, ...open], result: { record, added } };
    });
  }

  updateClass(definition: ClassDefinition, expectedVersion: number, context: RequestContext): Promise<ClassRecord> {
    return this.#change(context, (schema) => {
      const { version } = schema.snapshot;
      if (version !== expectedVersion) {
        throw new ShoalError(
          "conflict",
          `the schema is at version ${version}, the change was made for version ${expectedVersion}`,
        );
      }
      return replaceRecord(storedClass(schema, definition.class), { definition });
    });
  }

  addProperty(className: string, property: PropertyDefinition, context: ChangeContext): Promise<ClassRecord> {
    const caller = this.#callerOf(context);
    return this.#decided(context, (schema, state) => {
      const stored = storedClass(schema, className);
      const { definition, classId } = stored.record;
      const properties = definition.properties ?? [];
      const subject = { kind: "property", className, classId, property: property.name } as const;
      const known = properties.find(({ name }) => name === property.name);
      if (known !== undefined) {
        const isSame = isSameDefinition(known, property);
        const again = decideRepetition(openChange(state, subject), caller, stored.record, isSame, this.#nowMs());
        if (again !== undefined) return again;
      }
      checkNewProperty(className, property, definitionsOf(schema.classes), NONE_SHOWN);
      checkPropertyCount(className, properties.length + 1, this.#options.limits.propertiesPerClassMax);
      const { changes, result } = replaceRecord(stored, {
        definition: { ...definition, properties: [...properties, property] },
      });
      const open = caller === undefined ? [] : [putOpenChange(caller, subject)];
      return { changes: [...changes, ...open], result: { result } };
    });
  }

  async deleteClass(incarnation: ClassIncarnation, context: ChangeContext): Promise<void> {
    const nowMs = this.#nowMs();
    // A caller in this process has his result when this resolves.
    const caller = this.#callerOf(context) ?? changeCaller(this.#options.newClassId(), context.deadline, nowMs);
    try {
      await this.#decided(context, (schema, state) =>
        decideDeletion(incarnation, schema, state, caller, this.#nowMs()),
      );
    } catch (thrown) {
      // Its caller gets this result; whoever repeats the deletion need not wait for him.
      await this.#release(caller).catch(() => undefined);
      throw thrown;
    }
    if (context.changeId === undefined) await this.settle(caller.id, context).catch(() => undefined);
  }

  async settle(changeId: string, context: RequestContext): Promise<void> {
    await this.#options.ledger.change(context, (state) => {
      const open = readOpenChanges(state);
      const over = [...open.filter(({ id }) => id === changeId), ...forgotten(open, this.#nowMs())];
      const changes = [...removeOpenChanges(over), ...forgetGoneClasses(state, this.#nowMs())];
      return { changes: changes.length === 0 ? [] : otherChanges(state, changes), result: undefined };
    });
  }

  /** Its caller waits no longer. */
  async #release({ id }: ChangeCaller): Promise<void> {
    const nowMs = this.#nowMs();
    await this.#options.ledger.change({ deadline: nowMs + RELEASE_MS_MAX }, (state) => {
      const open = readOpenChanges(state).find((one) => one.id === id);
      const changes = open === undefined ? [] : otherChanges(state, [putOpenChange({ id, untilMs: nowMs }, open)]);
      return { changes, result: undefined };
    });
  }

  async restore(snapshot: SchemaSnapshot, context: RequestContext): Promise<void> {
    const { ledger } = this.#options;
    await ledger.change(context, (state) => ({
      changes: restoredSchema(snapshot, ledger.historyId, state),
      result: undefined,
    }));
  }

  async fixDimensions(
    className: string,
    classId: string,
    dimensions: number,
    context: RequestContext,
  ): Promise<number> {
    const record = await this.#change(context, (schema) => {
      const stored = storedClass(schema, className, classId);
      if (stored.record.dimensions !== undefined) return { changes: [], result: stored.record };
      return replaceRecord(stored, { dimensions });
    });
    return record.dimensions ?? dimensions;
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#snapshot.forgetListeners();
  }

  #nowMs(): number {
    return this.#options.ledger.nowMs();
  }

  #callerOf({ changeId, deadline }: ChangeContext): ChangeCaller | undefined {
    return changeId === undefined ? undefined : changeCaller(changeId, deadline, this.#nowMs());
  }

  #newClass(
    given: ClassDefinition,
    { classes }: StoredSchema,
    state: MetaState,
    { lostNodes = [] }: ClassPlan,
    caller: ChangeCaller | undefined,
  ): LedgerChange<Verdict<ClassRecord>> {
    const { defaultFactor = 1 } = this.#options;
    const isDefault = given.replicationConfig === undefined && defaultFactor !== 1;
    const definition = isDefault ? withFactor(given, defaultFactor) : given;
    const known = classes.get(definition.class)?.record;
    if (known !== undefined) {
      const { class: className } = known.definition;
      const open = openChange(state, { kind: "class", className, classId: known.classId });
      const isSame = isSameDefinition(known.definition, definition);
      const again = decideRepetition(open, caller, known, isSame, this.#nowMs());
      if (again !== undefined) return again;
    }
    checkNewClass(definition, definitionsOf(classes), this.#options.limits);
    const sharding = this.#placed(definition, state, lostNodes);
    checkShardCount(shardCount(classes) + sharding.shards.length, this.#options.shardLimit);
    this.#options.checkRoom?.(sharding.shards.length);
    const record: ClassRecord = {
      definition,
      sharding,
      classId: this.#options.newClassId(),
      dimensions: undefined,
    };
    const pending = decideOnDrops(state, definition.class);
    if (pending !== undefined) return pending;
    let order = 1;
    for (const stored of classes.values()) order = Math.max(order, stored.order + 1);
    const subject = { kind: "class", className: definition.class, classId: record.classId } as const;
    const open = caller === undefined ? [] : [putOpenChange(caller, subject)];
    return { changes: [putClass({ record, order }), ...open], result: { result: record } };
  }

  /** The shards of a new class and, where it has a factor, the names of their copies. */
  #placed(definition: ClassDefinition, state: MetaState, lostNodes: readonly string[]): ShardingState {
    const factor = definition.replicationConfig?.factor ?? 1;
    const sharding = this.#options.createSharding(
      definition,
      this.#nodeNames(state, lostNodes, definition.class, factor),
    );
    if (factor === 1) return sharding;
    return {
      ...sharding,
      shards: sharding.shards.map((shard) => ({ ...shard, copies: newCopies(shard.members, state) })),
    };
  }

  /**
   * Where shards may be placed: on the nodes that the caller reaches; on all when it reaches too few for the factor, or none, as it
   * is the caller then that is cut off. Fails with `unavailable` until all that are expected have registered, then with `invalid`
   * where there are too few of them.
   */
  #nodeNames(state: MetaState, lostNodes: readonly string[], className: string, factor: number): readonly string[] {
    const { expectedStorageNodes } = this.#options;
    const directory = readNodes(state, expectedStorageNodes);
    if (isComplete(directory)) {
      const all = directory.nodes.map(({ name }) => name);
      if (factor > Math.max(1, all.length)) throw tooFewNodes(className, factor, all.length);
      const reached = all.filter((name) => !lostNodes.includes(name));
      return reached.length < factor ? all : reached;
    }
    throw new ShoalError(
      "unavailable",
      `${directory.nodes.length} of ${expectedStorageNodes} storage nodes have registered so far: classes can be made ` +
        "when all of them have (CLUSTER_EXPECTED_STORAGE_NODES)",
      { retryAfterSeconds: INCOMPLETE_RETRY_SECONDS },
    );
  }

  #extended(
    stored: StoredClass,
    properties: readonly PropertyDefinition[],
    { classes }: StoredSchema,
  ): LedgerChange<ClassRecord> {
    const { record } = stored;
    const definition = extendClass(record.definition, properties, definitionsOf(classes), this.#options.limits);
    return definition === record.definition ? { changes: [], result: record } : replaceRecord(stored, { definition });
  }

  /** Decides until there is a result; what it waits for is waited for no longer than `responseMsMax`. */
  async #decided<T>(
    context: RequestContext,
    decide: (schema: StoredSchema, state: MetaState) => LedgerChange<Verdict<T>>,
  ): Promise<T> {
    const { ledger, responseMsMax = RESULT_MS_MAX } = this.#options;
    const giveUpMs = Math.min(context.deadline, this.#nowMs() + responseMsMax);
    for (;;) {
      let decidedOn = ledger.state;
      const verdict = await this.#change(context, (schema, state) => {
        decidedOn = state;
        return decide(schema, state);
      });
      if ("result" in verdict) return verdict.result;
      await ledger.changedSince(decidedOn, Math.min(giveUpMs, verdict.untilMs ?? giveUpMs), context.signal);
      context.signal?.throwIfAborted();
      if (this.#nowMs() >= giveUpMs) throw verdict.why;
    }
  }

  async #change<T>(
    context: RequestContext,
    decide: (schema: StoredSchema, state: MetaState) => LedgerChange<T>,
  ): Promise<T> {
    const { ledger } = this.#options;
    const beginning = this.#beginning;
    const result = await ledger.change(context, (state) => {
      this.#follow(state);
      const decided = decide(this.#schema, state);
      refuseTooLarge(this.#schema, decided.changes);
      const begun = beginning === undefined ? [] : beginHistory(ledger.historyId, state, beginning);
      const changes = [...begun, ...decided.changes];
      return { changes: changes.length === 0 ? changes : schemaChanges(state, changes), result: decided.result };
    });
    this.#beginning = undefined;
    return result;
  }

  #follow(state: MetaState): void {
    if (state.revision <= this.#state.revision) return;
    const isSame = isSameSchema(state, this.#state);
    this.#state = state;
    if (isSame) return;
    this.#schema = readSchema(this.#options.ledger.historyId, state);
    this.#snapshot.set(this.#schema.snapshot);
  }
}

function tooFewNodes(className: string, factor: number, count: number): ShoalError {
  const nodes = count === 1 ? "is 1 storage node" : `are ${count} storage nodes`;
  return new ShoalError(
    "invalid",
    `class '${className}': replicationConfig.factor is ${factor}, but there ${nodes}: each copy needs one of its own (where a class does not say, it has REPLICATION_FACTOR)`,
  );
}

/** A request that arrives late does not bring back what was deleted since it was planned. */
function refuseGoneClass(className: string, { plannedVersion }: ClassPlan, state: MetaState): void {
  if (plannedVersion === undefined || !isGoneSince(className, plannedVersion, state)) return;
  const message = `class '${className}' was deleted after version ${plannedVersion} of the schema`;
  throw new ShoalError("conflict", `${message}, for which it was to be made`);
}

/** `classId`: the class that is meant; one of the same name that was made later is another one. */
function storedClass({ classes }: StoredSchema, className: string, classId?: string): StoredClass {
  const stored = classes.get(className);
  if (stored === undefined || (classId !== undefined && stored.record.classId !== classId)) {
    throw unknownClass(className);
  }
  return stored;
}

/** The change that has made a class or a property, while it is not settled. */
function openChange(state: MetaState, { kind, classId, property }: ChangeSubject): OpenChange | undefined {
  return readOpenChanges(state).find(
    (one) => one.kind === kind && one.classId === classId && one.property === property,
  );
}

/** What the caller has made of the class when his request came before. */
function ownChange(
  state: MetaState,
  caller: ChangeCaller | undefined,
  { classId }: ClassRecord,
): OpenChange | undefined {
  if (caller === undefined) return undefined;
  return readOpenChanges(state).find((one) => one.id === caller.id && one.classId === classId);
}

function unknownClass(className: string): ShoalError {
  return new ShoalError("notFound", CLIENT_PHRASES.classNotFound(className));
}

function replaceRecord(stored: StoredClass, change: Partial<ClassRecord>): LedgerChange<ClassRecord> {
  const record: ClassRecord = { ...stored.record, ...change };
  return { changes: [putClass({ record, order: stored.order })], result: record };
}
