import type { ObjectId } from "@shoal/model";
import type { RequestContext } from "@shoal/rpc";
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

/** The asking side of writes over shards that may be anywhere. Each operation is a file of its name. */
export class ObjectIngest implements IngestService {
  readonly #parts: IngestParts;
  readonly #dimensions: ClassDimensions;

  constructor(parts: IngestParts) {
    this.#parts = parts;
    this.#dimensions = new ClassDimensions(parts.schemaService);
  }

  createObject(input: ObjectInput, context: RequestContext): Promise<WrittenObject> {
    return createObject(this.#parts, this.#dimensions, input, context);
  }

  replaceObject(id: ObjectId, input: ObjectInput, context: RequestContext): Promise<WrittenObject> {
    return replaceObject(this.#parts, this.#dimensions, id, input, context);
  }

  mergeObject(id: ObjectId, input: ObjectInput, context: RequestContext): Promise<void> {
    return mergeObject(this.#parts, this.#dimensions, id, input, context);
  }

  deleteObject(id: ObjectId, context: RequestContext): Promise<boolean> {
    return deleteObject(this.#parts, id, context);
  }

  validateObject(input: ObjectInput, context: RequestContext): Promise<void> {
    return validateObject(this.#parts, input, context);
  }

  importObjects(
    inputs: readonly (ObjectInput | undefined)[],
    context: RequestContext,
  ): Promise<readonly BatchOutcome[]> {
    return importObjects(this.#parts, this.#dimensions, inputs, context);
  }

  addReference(id: ObjectId, property: string, beacon: string, context: RequestContext): Promise<void> {
    return changeReferences(this.#parts, ADD, id, property, [beacon], context);
  }

  replaceReferences(
    id: ObjectId,
    property: string,
    beacons: readonly string[],
    context: RequestContext,
  ): Promise<void> {
    return changeReferences(this.#parts, REPLACE, id, property, beacons, context);
  }

  removeReferences(id: ObjectId, property: string, beacons: readonly string[], context: RequestContext): Promise<void> {
    return changeReferences(this.#parts, REMOVE, id, property, beacons, context);
  }

  importReferences(inputs: readonly ReferenceInput[], context: RequestContext): Promise<readonly ReferenceOutcome[]> {
    return importReferences(this.#parts, inputs, context);
  }
}
