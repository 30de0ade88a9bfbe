import { schemaSeenBy } from "@shoal/cluster";
import type { ObjectId } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { ADD, changeReferences, REMOVE, REPLACE } from "./change-references.js";
import { ClassDimensions } from "./class-dimensions.js";
import { createObject } from "./create-object.js";
import { deleteObject } from "./delete-object.js";
import { importObjects } from "./import-objects.js";
import { importReferences } from "./import-references.js";
import type { IngestParts } from "./ingest-parts.js";
import type {
  BatchOutcome,
  IngestService,
  ObjectInput,
  ReferenceInput,
  ReferenceOutcome,
  WrittenObject,
} from "./ingest-service.js";
import { mergeObject } from "./merge-object.js";
import { replaceObject } from "./replace-object.js";
import { validateObject } from "./validate-object.js";

/**
 * The asking side of writes over shards that may be anywhere. Each operation is a file of its name. To whoever may not touch the
 * objects of a class in any way they are as if they were not there.
 */
export class ObjectIngest implements IngestService {
  readonly #parts: IngestParts;
  readonly #dimensions: ClassDimensions;

  constructor(parts: IngestParts) {
    this.#parts = parts;
    this.#dimensions = new ClassDimensions(parts.schemaService);
  }

  createObject(input: ObjectInput, context: RequestContext): Promise<WrittenObject> {
    return createObject(this.#partsFor(context), this.#dimensions, input, context);
  }

  replaceObject(id: ObjectId, input: ObjectInput, context: RequestContext): Promise<WrittenObject> {
    return replaceObject(this.#partsFor(context), this.#dimensions, id, input, context);
  }

  mergeObject(id: ObjectId, input: ObjectInput, context: RequestContext): Promise<void> {
    return mergeObject(this.#partsFor(context), this.#dimensions, id, input, context);
  }

  deleteObject(id: ObjectId, context: RequestContext): Promise<boolean> {
    return deleteObject(this.#partsFor(context), id, context);
  }

  validateObject(input: ObjectInput, context: RequestContext): Promise<void> {
    return validateObject(this.#partsFor(context), input, context);
  }

  importObjects(
    inputs: readonly (ObjectInput | undefined)[],
    context: RequestContext,
  ): Promise<readonly BatchOutcome[]> {
    return importObjects(this.#partsFor(context), this.#dimensions, inputs, context);
  }

  addReference(id: ObjectId, property: string, beacon: string, context: RequestContext): Promise<void> {
    return changeReferences(this.#partsFor(context), ADD, id, property, [beacon], context);
  }

  replaceReferences(
    id: ObjectId,
    property: string,
    beacons: readonly string[],
    context: RequestContext,
  ): Promise<void> {
    return changeReferences(this.#partsFor(context), REPLACE, id, property, beacons, context);
  }

  removeReferences(id: ObjectId, property: string, beacons: readonly string[], context: RequestContext): Promise<void> {
    return changeReferences(this.#partsFor(context), REMOVE, id, property, beacons, context);
  }

  importReferences(inputs: readonly ReferenceInput[], context: RequestContext): Promise<readonly ReferenceOutcome[]> {
    return importReferences(this.#partsFor(context), inputs, context);
  }

  #partsFor(context: RequestContext): IngestParts {
    if (context.rights === undefined) return this.#parts;
    const wholeSchema = this.#parts.schema;
    return { ...this.#parts, schema: schemaSeenBy(wholeSchema, context, "mayKnow"), wholeSchema };
  }
}
