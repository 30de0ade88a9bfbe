import type { SchemaView } from "@shoal/cluster";
import {
  type JsonObject,
  LAST_UPDATE_TIME_PROPERTY,
  type RequestWarnings,
  type WhereFilter,
  type WhereLimits,
} from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import type { QueryService } from "@shoal/query";
import type { JobService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { type ClassificationRecord, classificationRecord } from "./classification-record.js";
import { KNN } from "./classification-request.js";
import { parseClassification } from "./parse-classification.js";

/** Starts classifications and tells how far they are; who carries them out is `ClassificationRunner`. */
export interface ClassificationService {
  /**
   * `body` as a client sent it, of which `readClassificationBody` has told what is unknown; settings of a module's type that are
   * unknown go into `warnings`. Fails with `invalid` and `malformed` on what cannot be done.
   */
  start(body: unknown, context: RequestContext, warnings?: RequestWarnings): Promise<ClassificationRecord>;
  /** Undefined when there is none of that id. */
  find(id: string, context: RequestContext): Promise<ClassificationRecord | undefined>;
}

export interface ClassificationParts {
  readonly jobs: JobService;
  readonly view: SchemaView;
  readonly query: Pick<QueryService, "aggregate">;
  readonly modules: EnabledModules;
  readonly whereLimits: WhereLimits;
  /** A random v4 uuid. */
  readonly newId: () => string;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** A range of a class has about so many objects. */
const OBJECTS_PER_RANGE = 5_000;
const RANGES_MAX = 64;

/** Clocks of a cluster are not further apart than this, unless one of them is wrong. */
const CLOCKS_APART_MS = 60_000;

export class Classifications implements ClassificationService {
  readonly #parts: ClassificationParts;

  constructor(parts: ClassificationParts) {
    this.#parts = parts;
  }

  async start(body: unknown, context: RequestContext, warnings?: RequestWarnings): Promise<ClassificationRecord> {
    const { jobs, view, modules, whereLimits, newId } = this.#parts;
    await view.refresh(context);
    const classOf = (name: string) => view.classRecord(name)?.definition;
    const parsed = parseClassification(body, { classOf, modules, whereLimits, warnings });
    const { type, class: className } = parsed;
    const takenMs = await this.#takenMs(type, className, context);
    const startedBy = context.rights?.holder;
    const request = {
      ...{ ...parsed, takenMs, isKnownType: modules.classifier(type) !== undefined },
      schemaVersion: view.snapshot.version,
      ...(startedBy === undefined ? {} : { startedBy }),
    };
    const classId = view.classRecord(className)?.classId ?? "";
    const ranges = await this.#ranges(className, context);
    const owner = startedBy === undefined ? {} : { owner: `${startedBy.userType}/${startedBy.username}` };
    const job = { id: newId(), className, classId, request: request as unknown as JsonObject, ...owner, ranges };
    return classificationRecord(await jobs.create(job, context));
  }

  async find(id: string, context: RequestContext): Promise<ClassificationRecord | undefined> {
    const job = await this.#parts.jobs.find(id, context);
    return job && classificationRecord(job);
  }

  async #ranges(className: string, context: RequestContext): Promise<number> {
    const count = await this.#count(className, undefined, context);
    return Math.min(RANGES_MAX, Math.max(1, Math.ceil(count / OBJECTS_PER_RANGE)));
  }

  /**
   * What was labelled up to then teaches. Where a clock that was ahead has given objects a time that is yet to come, all times
   * count, or their labels would be passed over silently; the run knows what it has classified itself.
   */
  async #takenMs(type: string, className: string, context: RequestContext): Promise<number> {
    const now = this.#parts.nowMs();
    if (type !== KNN) return now;
    const later: WhereFilter = {
      operator: "GreaterThan",
      path: [LAST_UPDATE_TIME_PROPERTY],
      value: { kind: "int", values: [now + CLOCKS_APART_MS] },
    };
    return (await this.#count(className, later, context)) > 0 ? Number.MAX_SAFE_INTEGER : now;
  }

  async #count(className: string, where: WhereFilter | undefined, context: RequestContext): Promise<number> {
    const query = { className, where, groupBy: undefined, limit: undefined, properties: [] };
    const [all] = await this.#parts.query.aggregate(query, context);
    return all?.objectCount ?? 0;
  }
}
