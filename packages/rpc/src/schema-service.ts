import type { ClassDefinition, PropertyDefinition } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { ShardingState } from "@shoal/sharding";
import type { Position, SnapshotService } from "./snapshot-service.js";

/** A class as the coordinator keeps it: what clients see, and beside it what only the processes need. */
export interface ClassRecord {
  readonly definition: ClassDefinition;
  readonly sharding: ShardingState;
  /** Names the class on disk, never reused: a class that is deleted and created again has another one. */
  readonly classId: string;
  /** Fixed by the first vector that was accepted; undefined until then. */
  readonly dimensions: number | undefined;
}

/** A version of the schema. */
export type SchemaPosition = Position;

/** A history that another one goes on from. */
export interface FormerHistory {
  readonly historyId: string;
  /** Its last version that is part of the other one. */
  readonly upTo: number;
}

/** A class that is out of the schema and whose name cannot be used again yet. */
export interface ClassDrop {
  readonly classId: string;
  readonly className: string;
  /** The storage nodes that have not confirmed so far that they take nothing more into it. */
  readonly holders: readonly string[];
}

/** The whole schema at one version. Classes in the order of their creation. */
export interface SchemaSnapshot extends SchemaPosition {
  /** Drawn with the cluster's MetaStore. Absent in what was stored by builds that did not know it. */
  readonly clusterId?: string;
  readonly classes: readonly ClassRecord[];
  /** What was pending when the schema changed last: some of it may be over. Absent: nothing. */
  readonly drops?: readonly ClassDrop[];
  /** What it goes on from, the latest last; only so many are known. */
  readonly former?: readonly FormerHistory[];
}

/** Whether `earlier` is that very version, or one on the way to it. */
export function goesOnFrom(
  { historyId, version, former }: Omit<SchemaSnapshot, "classes">,
  earlier: SchemaPosition,
): boolean {
  if (historyId === earlier.historyId) return version >= earlier.version;
  return former?.some((one) => one.historyId === earlier.historyId && one.upTo >= earlier.version) ?? false;
}

/** The class that a change is meant for: one of the same name that was made later is another one. */
export interface ClassIncarnation {
  readonly className: string;
  /** Undefined: the caller knows of no such class. */
  readonly classId: string | undefined;
}

/** What the caller of a creation knows. */
export interface ClassPlan {
  /** The version of the schema that he has decided on. Absent: it does not matter. */
  readonly plannedVersion?: number;
  /** Storage nodes that he does not reach: shards are placed on the other ones, unless those are all. */
  readonly lostNodes?: readonly string[];
}

/** The class that there is, and what the call has changed. */
export interface EnsuredClass {
  readonly record: ClassRecord;
  /** Whether it was this call that made it. */
  readonly isMade: boolean;
}

/** The class with the properties that it was to have, and what the call has changed. */
export interface EnsuredProperties {
  readonly record: ClassRecord;
  /** The names of those that it was this call that added. */
  readonly added: readonly string[];
}

/** The context of a change that may be repeated. */
export interface ChangeContext extends RequestContext {
  /** Names the change, however often it is sent; whoever sends it settles it. Absent: it is sent once. */
  readonly changeId?: string;
}

/**
 * The coordinator: the one writer of the schema. All methods fail with `unavailable` when it cannot be reached.
 * Definitions come in complete (defaults filled, validated); the coordinator checks only what needs the current schema.
 */
export interface SchemaService extends SnapshotService<SchemaSnapshot> {
  /**
   * Fails with `invalid` when the class contradicts the schema as it is now: its name, GraphQL names, reference targets,
   * the most classes and properties there may be. A class that was made by a request which never had its response is no
   * contradiction when it is the same. Fails with `unavailable` while an earlier class of that name is being dropped; with
   * `conflict` when one was deleted after the version that it is planned with: a request that arrives late does not bring
   * back what was deleted since.
   */
  addClass(definition: ClassDefinition, context: ChangeContext, plan?: ClassPlan): Promise<ClassRecord>;
  /**
   * Replaces the definition of the class of that name. Fails with `notFound` for an unknown class, with `conflict` when
   * the schema is no longer at `expectedVersion`: the caller decided on an older one and looks again.
   */
  updateClass(definition: ClassDefinition, expectedVersion: number, context: RequestContext): Promise<ClassRecord>;
  /** Fails with `notFound` for an unknown class, with `invalid` when the property contradicts the schema as it is now. */
  addProperty(className: string, property: PropertyDefinition, context: ChangeContext): Promise<ClassRecord>;
  /**
   * The class of that name: created when there is none, as by `addClass`, else as it is: making a class and changing one
   * that somebody else has made are two rights. Fails as `addClass`, with `conflict` also when the class was deleted after
   * `plannedVersion` and there is another one.
   */
  ensureClass(definition: ClassDefinition, context: ChangeContext, plan?: ClassPlan): Promise<EnsuredClass>;
  /**
   * The class with at least these properties: those that it lacks are added in one change; it is no fault that somebody
   * else added some of them. Nothing is changed on any failure: `conflict` when it has one of them with another data
   * type, `notFound` when there is no class of that id, `invalid` when a property contradicts the schema as it is now.
   */
  ensureProperties(
    className: string,
    classId: string,
    properties: readonly PropertyDefinition[],
    context: ChangeContext,
  ): Promise<EnsuredProperties>;
  /**
   * Resolves when the class is out of the schema and every storage node with a shard of it has confirmed that it takes
   * nothing more into it. Fails with `unavailable`, naming them, when some have not within ten seconds: the class stays out
   * of the schema, and whoever repeats the deletion waits for them again. Fails with `notFound` for an unknown class,
   * unless one of that name was deleted by a request that never had its response; with `conflict` when there is a class of
   * that name and another id.
   */
  deleteClass(incarnation: ClassIncarnation, context: ChangeContext): Promise<void>;
  /** Fixes the vector length of a class unless it is fixed already; the length that holds is the response. */
  fixDimensions(className: string, classId: string, dimensions: number, context: RequestContext): Promise<number>;
}

/** The schema as coordinators serve it. */
export interface ServedSchema extends SchemaService {
  /** The caller has the response of that change: nobody will ask for it again. */
  settle(changeId: string, context: RequestContext): Promise<void>;
  /**
   * Puts a schema that other processes of a cluster still know into an empty store, which becomes that cluster's. Fails
   * with `conflict` on a store that has classes, with `invalid` on a schema without a cluster id.
   */
  restore(snapshot: SchemaSnapshot, context: RequestContext): Promise<void>;
}
