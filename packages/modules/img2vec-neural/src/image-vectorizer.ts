import { type InferenceContainer, mapConcurrently } from "@shoal/inference";
import { type ClassDefinition, ShoalError, withPrefix } from "@shoal/model";
import { meanOf, type ObjectContent, type ObjectVector, type Vectorizer } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { imageFieldsOf } from "./class-config.js";

/** Objects of one request whose images are sent at a time. */
const AT_ONCE = 8;

/** Vectors of objects from their images (reference-graphql 8.6). */
export class ImageVectorizer implements Vectorizer {
  readonly #container: InferenceContainer;

  constructor(container: InferenceContainer) {
    this.#container = container;
  }

  vectorize(
    definition: ClassDefinition,
    objects: readonly ObjectContent[],
    context: RequestContext,
  ): Promise<readonly (ObjectVector | ShoalError)[]> {
    const fields = imageFieldsOf(definition);
    return mapConcurrently(objects, AT_ONCE, (object) =>
      this.#vectorOf(fields, object, context).catch((thrown: unknown) => {
        context.signal?.throwIfAborted();
        return ShoalError.from(thrown);
      }),
    );
  }

  /** The vector of an image in base64; `id` is what the container may log. */
  async vectorOfImage(id: string, image: string, context: RequestContext): Promise<Float32Array> {
    try {
      return await this.#container.vector("/vectors", { id, image }, context);
    } catch (thrown) {
      throw withPrefix("no vector could be made: ", thrown);
    }
  }

  /** The mean of its images, those that are given. */
  async #vectorOf(fields: readonly string[], { id, properties }: ObjectContent, context: RequestContext) {
    const vectors: Float32Array[] = [];
    for (const field of fields) {
      const image = properties !== undefined && Object.hasOwn(properties, field) ? properties[field] : undefined;
      if (typeof image !== "string" || image === "") continue;
      vectors.push(await this.vectorOfImage(`${id}_${vectors.length}`, image, context));
    }
    if (vectors.length > 0) return { vector: meanOf(vectors) };
    const names = fields.map((field) => `'${field}'`).join(", ");
    throw new ShoalError("invalid", `the object has no image to make a vector of: imageFields are ${names}`);
  }
}
