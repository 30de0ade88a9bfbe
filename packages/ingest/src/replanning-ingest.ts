import { isOutdated, isReplaced, replanned, type SchemaView, unknownWhetherThere } from "@shoal/cluster";
import { type ObjectId, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { BatchOutcome, IngestService, ObjectInput } from "./ingest-service.js";

/**
 * Writes of a process that may know an old schema. What was refused is planned anew, once, when there is a newer one; so is
 * what a shard failed of a class that is another one meanwhile or gone: nothing can have been written to that.
 * Batches look at their refusals themselves, before they write anything.
 */
export class ReplanningIngest implements IngestService {
  readonly #inner: IngestService;
  readonly #view: SchemaView;
  readonly importReferences: IngestService["importReferences"];

  constructor(inner: IngestService, view: SchemaView) {
    this.#inner = inner;
    this.#view = view;
    this.importReferences = inner.importReferences.bind(inner);
  }

  createObject(input: ObjectInput, context: RequestContext) {
    return this.#replanned(input.className, context, () => this.#inner.createObject(input, context));
  }

  replaceObject(id: ObjectId, input: ObjectInput, context: RequestContext) {
    return this.#replanned(input.className, context, () => this.#inner.replaceObject(id, input, context));
  }

  mergeObject(id: ObjectId, input: ObjectInput, context: RequestContext) {
    return this.#replanned(input.className, context, () => this.#inner.mergeObject(id, input, context));
  }

  async deleteObject(id: ObjectId, context: RequestContext) {
    const planned = this.#view.snapshot;
    // A schema of one class does not look for the object first.
    const only = planned.classes.length === 1 ? planned.classes[0]?.definition.class : undefined;
    const work = () => this.#inner.deleteObject(id, context);
    const isDeleted = await this.#replanned(only, context, work);
    return isDeleted || ((await isOutdated(this.#view, planned, context)) && work());
  }

  validateObject(input: ObjectInput, context: RequestContext) {
    return this.#replanned(input.className, context, () => this.#inner.validateObject(input, context));
  }

  async importObjects(inputs: readonly (ObjectInput | undefined)[], context: RequestContext) {
    const planned = this.#view.snapshot;
    const outcomes = await this.#inner.importObjects(inputs, context);
    const failed = outcomes.flatMap((outcome, at) => (isUnavailable(outcome) ? { ...outcome, at } : []));
    if (failed.length === 0 || !(await isOutdated(this.#view, planned, context))) return outcomes;
    const lost = failed.filter(({ input }) => isReplaced(input.className, planned, this.#view.snapshot));
    if (lost.length === 0) return outcomes;
    const again = await this.#inner.importObjects(
      lost.map(({ id, input }) => ({ ...input, id })),
      context,
    );
    const byPlace = new Map(lost.map(({ at }, i) => [at, again[i]]));
    return outcomes.map((outcome, at) => byPlace.get(at) ?? outcome);
  }

  addReference(id: ObjectId, property: string, beacon: string, context: RequestContext) {
    return this.#replanned(undefined, context, () => this.#inner.addReference(id, property, beacon, context));
  }

  replaceReferences(id: ObjectId, property: string, beacons: readonly string[], context: RequestContext) {
    return this.#replanned(undefined, context, () => this.#inner.replaceReferences(id, property, beacons, context));
  }

  removeReferences(id: ObjectId, property: string, beacons: readonly string[], context: RequestContext) {
    return this.#replanned(undefined, context, () => this.#inner.removeReferences(id, property, beacons, context));
  }

  async #replanned<T>(className: string | undefined, context: RequestContext, work: () => Promise<T>): Promise<T> {
    try {
      return await replanned(this.#view, context, work, ({ code }, planned, now) => {
        return code === "invalid" || code === "notFound" || isReplaced(className, planned, now);
      });
    } catch (thrown) {
      if (thrown instanceof ShoalError && thrown.code === "invalid" && this.#mayBeThere(className)) {
        throw unknownWhetherThere(className);
      }
      throw thrown;
    }
  }

  /** Whether the class is not known, and nobody can tell whether it was made meanwhile. */
  #mayBeThere(className: string | undefined): className is string {
    return className !== undefined && this.#view.isLost === true && this.#view.classRecord(className) === undefined;
  }
}

function isUnavailable(outcome: BatchOutcome): outcome is Extract<BatchOutcome, { readonly error: unknown }> {
  return "error" in outcome && (outcome.error.code === "unavailable" || outcome.error.code === "conflict");
}
