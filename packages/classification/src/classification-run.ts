import type { SchemaView, ShardRouter } from "@shoal/cluster";
import {
  type ClassRights,
  isUncheckedObject,
  type ObjectId,
  type RightsHolder,
  type RowFields,
  type ShardFilter,
  ShoalError,
  type StoredObject,
  type WhereFilter,
  type WhereLimits,
  type WireProfile,
} from "@shoal/model";
import type { EnabledModules, PreparedClassifier } from "@shoal/module-api";
import { collectPage, type FilterParts, planFilter } from "@shoal/query";
import type { ClassRecord, Job } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { type ClassificationRequest, type FilterName, KNN, ZEROSHOT } from "./classification-request.js";
import { filterOf } from "./parse-classification.js";
import { requireClassificationRights } from "./required-rights.js";

/** What classifications are carried out with. */
export interface RunParts {
  readonly view: SchemaView;
  readonly router: ShardRouter;
  readonly filters: FilterParts;
  readonly modules: EnabledModules;
  readonly whereLimits: WhereLimits;
  /**
   * What somebody may do now whom another process may have let in, by the roles as the coordinator has them; absent: roles are off.
   * Fails with `unavailable` while that cannot be known here.
   */
  readonly rightsOf?: ((holder: RightsHolder, context: RequestContext) => Promise<ClassRights>) | undefined;
  readonly profile: Pick<WireProfile, "beaconScheme" | "knnLosingMembersAlways" | "classificationBasedOnNamed">;
}

/** A classification on one process, as its classifier sees it: filters planned, the class looked up. */
export class ClassificationRun {
  readonly job: Job;
  readonly request: ClassificationRequest;
  readonly record: ClassRecord;
  readonly parts: RunParts;

  constructor(parts: RunParts, job: Job, record: ClassRecord) {
    this.parts = parts;
    this.job = job;
    this.record = record;
    this.request = job.request as unknown as ClassificationRequest;
  }

  /**
   * Fails with `forbidden`, which ends the job, when who has started it may not do it any more; with `unavailable` while that
   * cannot be told here. Asked before each step that reads or writes: it takes a question to the coordinator.
   */
  async requireRights(context: RequestContext): Promise<void> {
    const { rightsOf } = this.parts;
    if (rightsOf === undefined) return;
    const { startedBy } = this.request;
    if (startedBy === undefined) throw new ShoalError("forbidden", nobodys(this.request.class));
    requireClassificationRights(this.request, this.record.definition, await rightsOf(startedBy, context));
  }

  /** Whether its classifier looks at more of an item than its vector. */
  get needsProperties(): boolean {
    return this.request.type !== KNN && this.request.type !== ZEROSHOT;
  }

  /** A filter of the request for the objects of a class, as shards get it; undefined when it was not sent. */
  async filter(name: FilterName, rootClass: string, context: RequestContext): Promise<ShardFilter | undefined> {
    const where = filterOf(this.request, name, rootClass, this.parts.whereLimits);
    return where && this.plan(where, context);
  }

  async plan(where: WhereFilter, context: RequestContext): Promise<ShardFilter> {
    return planFilter(this.parts.filters, where, context);
  }

  /** Objects whose classified properties hold no reference, or each at least one. */
  labelled(has: boolean): readonly ShardFilter[] {
    return this.request.classifyProperties.map((property) => ({
      operator: has ? "GreaterThan" : "Equal",
      property,
      value: { kind: "int", values: [0] },
    }));
  }

  /** The classes that a property may refer to. */
  targetClasses(property: string): readonly ClassRecord[] {
    const definition = this.record.definition.properties?.find(({ name }) => name === property);
    return (definition?.dataType ?? []).flatMap((name) => this.parts.view.classRecord(name) ?? []);
  }

  /** Whether this run has classified the object; of rows with extras. */
  hasClassified({ extras }: StoredObject): boolean {
    const additional = extras?.additional;
    const classification = isUncheckedObject(additional) ? additional.classification : undefined;
    return isUncheckedObject(classification) && classification.id === this.job.id;
  }

  /** Objects of a class by ascending id, behind `after`. */
  page(
    record: ClassRecord,
    filter: ShardFilter | undefined,
    fields: RowFields,
    after: string,
    limit: number,
    context: RequestContext,
  ): Promise<readonly StoredObject[]> {
    const listing = { order: "id", after: after === "" ? undefined : (after as ObjectId), filter, fields } as const;
    return collectPage(this.parts.router, [record], listing, { offset: 0, limit }, context);
  }

  /** The same, all of them. */
  async *objects(
    record: ClassRecord,
    filter: ShardFilter | undefined,
    fields: RowFields,
    context: RequestContext,
    behind = "",
  ): AsyncGenerator<StoredObject> {
    for (let after = behind; ; ) {
      const page = await this.page(record, filter, fields, after, PAGE, context);
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = last.id;
    }
  }
}

function nobodys(className: string): string {
  return (
    `roles are on, and this classification of class '${className}' was started when they were off or by an earlier version, ` +
    "so that nobody knows what it may do: start it again"
  );
}

const PAGE = 200;

/** The filters that there are, as one. */
export function allOf(filters: readonly (ShardFilter | undefined)[]): ShardFilter | undefined {
  const given = filters.filter((filter) => filter !== undefined);
  return given.length > 1 ? { operator: "And", operands: given } : given[0];
}

/** Ready for its items. */
export interface PreparedRun {
  readonly run: ClassificationRun;
  /** The items that are still to be classified. */
  readonly source: ShardFilter | undefined;
  readonly classifier: PreparedClassifier;
}

/** The vector of an item. Fails with `invalid` when there is none. */
export function vectorOf(vector: Float32Array | undefined): Float32Array {
  if (vector !== undefined && vector.length > 0) return vector;
  throw new ShoalError("invalid", "the object has no vector");
}
