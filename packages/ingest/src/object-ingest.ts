import { findFirstHolder, isOutdated, isReplaced, replanned, schemaSeenBy, unknownWhetherThere } from "@shoal/cluster";
import { type ObjectId, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { ADD, changeReferences, REMOVE, REPLACE, type ReferenceChange } from "./change-references.js";
import { validateObject } from "./check-object.js";
import { ClassDimensions } from "./class-dimensions.js";
import { createObject } from "./create-object.js";
import { importObjects } from "./import-objects.js";
import { importReferences } from "./import-references.js";
import type { IngestOptions, IngestParts } from "./ingest-parts.js";
import type { BatchOutcome, IngestService, ObjectInput, ReferenceInput } from "./ingest-service.js";
import { mergeObject } from "./merge-object.js";
import { replaceObject } from "./replace-object.js";

/**
 * Writes over shards that may be anywhere. Each operation is a file of its name. To whoever may not touch the
 * objects of a class in any way they are as if they were not there.
 *
 * A process may know an old schema. What was refused is planned again, once, when there is a newer one; so is
 * what a shard failed of a class that is another one meanwhile or gone: nothing can have been written to that.
 * Batches look at their refusals themselves, before they write anything.
 */
export class ObjectIngest implements IngestService {
  readonly #parts: IngestParts;

  constructor({ schemaService, ...parts }: IngestOptions) {
    this.#parts = { ...parts, dimensions: new ClassDimensions(schemaService) };
  }

  createObject(input: ObjectInput, context: RequestContext) {
    return this.#replanned(input.className, context, (parts) => createObject(parts, input, context));
  }

  replaceObject(id: ObjectId, input: ObjectInput, context: RequestContext) {
    return this.#replanned(input.className, context, (parts) => replaceObject(parts, id, input, context));
  }

  mergeObject(id: ObjectId, input: ObjectInput, context: RequestContext) {
    return this.#replanned(input.className, context, (parts) => mergeObject(parts, id, input, context));
  }

  async deleteObject(id: ObjectId, context: RequestContext) {
    const { schema } = this.#parts;
    const planned = schema.snapshot;
    // A schema of one class does not look for the object first.
    const only = planned.classes.length === 1 ? planned.classes[0]?.definition.class : undefined;
    const isDeleted = await this.#replanned(only, context, (parts) => deleteObject(parts, id, context));
    if (isDeleted || !(await isOutdated(schema, planned, context))) return isDeleted;
    return deleteObject(this.#partsFor(context), id, context);
  }

  validateObject(input: ObjectInput, context: RequestContext) {
    return this.#replanned(input.className, context, (parts) => validateObject(parts, input, context));
  }

  async importObjects(inputs: readonly (ObjectInput | undefined)[], context: RequestContext) {
    const { schema } = this.#parts;
    const planned = schema.snapshot;
    const outcomes = await importObjects(this.#partsFor(context), inputs, context);
    const failed = outcomes.flatMap((outcome, at) => (isUnavailable(outcome) ? { ...outcome, at } : []));
    if (failed.length === 0 || !(await isOutdated(schema, planned, context))) return outcomes;
    const lost = failed.filter(({ input }) => isReplaced(input.className, planned, schema.snapshot));
    if (lost.length === 0) return outcomes;
    const again = await importObjects(
      this.#partsFor(context),
      lost.map(({ id, input }) => ({ ...input, id })),
      context,
    );
    const byPlace = new Map(lost.map(({ at }, i) => [at, again[i]]));
    return outcomes.map((outcome, at) => byPlace.get(at) ?? outcome);
  }

  addReference(id: ObjectId, property: string, beacon: string, context: RequestContext) {
    return this.#changeReferences(ADD, id, property, [beacon], context);
  }

  replaceReferences(id: ObjectId, property: string, beacons: readonly string[], context: RequestContext) {
    return this.#changeReferences(REPLACE, id, property, beacons, context);
  }

  removeReferences(id: ObjectId, property: string, beacons: readonly string[], context: RequestContext) {
    return this.#changeReferences(REMOVE, id, property, beacons, context);
  }

  importReferences(inputs: readonly ReferenceInput[], context: RequestContext) {
    return importReferences(this.#partsFor(context), inputs, context);
  }

  #changeReferences(
    change: ReferenceChange,
    id: ObjectId,
    property: string,
    beacons: readonly string[],
    context: RequestContext,
  ): Promise<void> {
    return this.#replanned(undefined, context, (parts) =>
      changeReferences(parts, change, id, property, beacons, context),
    );
  }

  #partsFor(context: RequestContext): IngestParts {
    if (context.rights === undefined) return this.#parts;
    const wholeSchema = this.#parts.schema;
    return { ...this.#parts, schema: schemaSeenBy(wholeSchema, context, "mayKnow"), wholeSchema };
  }

  async #replanned<T>(
    className: string | undefined,
    context: RequestContext,
    work: (parts: IngestParts) => Promise<T>,
  ): Promise<T> {
    const { schema } = this.#parts;
    try {
      return await replanned(
        schema,
        context,
        () => work(this.#partsFor(context)),
        ({ code }, planned, now) => code === "invalid" || code === "notFound" || isReplaced(className, planned, now),
      );
    } catch (thrown) {
      if (thrown instanceof ShoalError && thrown.code === "invalid" && this.#mayBeThere(className)) {
        throw unknownWhetherThere(className);
      }
      throw thrown;
    }
  }

  /** Whether the class is not known, and nobody can tell whether it was made meanwhile. */
  #mayBeThere(className: string | undefined): className is string {
    const { schema } = this.#parts;
    return className !== undefined && schema.isLost === true && schema.classRecord(className) === undefined;
  }
}

function isUnavailable(outcome: BatchOutcome): outcome is Extract<BatchOutcome, { readonly error: unknown }> {
  return "error" in outcome && (outcome.error.code === "unavailable" || outcome.error.code === "conflict");
}

/**
 * Deletes the object of the first class (`Holders`) that has the id; false when none has it. Fails with `forbidden` where whoever asks may
 * not delete objects of that class.
 */
async function deleteObject(parts: IngestParts, id: ObjectId, context: RequestContext): Promise<boolean> {
  const { snapshot } = parts.schema;
  const { classes } = snapshot;
  const record = classes.length < 2 ? classes[0] : await findFirstHolder(parts.router, snapshot, id, context);
  if (record === undefined) return false;
  context.observer?.concerns("class", record.definition.class);
  context.rights?.require("delete_data", record.definition.class);
  const shard = parts.router.shardOf(record, id);
  return parts.router.node(shard).deleteObject(shard, id, context);
}
