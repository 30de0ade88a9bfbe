import type { RequestContext } from "@shoal/rpc";
import { ClassDimensions } from "./class-dimensions.js";
import { createObject } from "./create-object.js";
import { deleteObject } from "./delete-object.js";
import { importObjects } from "./import-objects.js";
import type { IngestParts } from "./ingest-parts.js";
import type { BatchOutcome, IngestService, ObjectInput, WrittenObject } from "./ingest-service.js";
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

  replaceObject(pathId: string, input: ObjectInput, context: RequestContext): Promise<WrittenObject> {
    return replaceObject(this.#parts, this.#dimensions, pathId, input, context);
  }

  mergeObject(pathId: string, input: ObjectInput, context: RequestContext): Promise<void> {
    return mergeObject(this.#parts, this.#dimensions, pathId, input, context);
  }

  deleteObject(pathId: string, context: RequestContext): Promise<boolean> {
    return deleteObject(this.#parts, pathId, context);
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
}
