import { type InferenceContainer, mapConcurrently } from "@shoal/inference";
import { ShoalError, withPrefix } from "@shoal/model";
import { meanOf, type ObjectContent, type Vectorizer } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { imageFieldsOf } from "./class-config.js";

/** Objects of one request whose images are sent at a time. */
const AT_ONCE = 8;

/** The vector of an image in base64; `id` is what the container may log. */
export type VectorOfImage = (id: string, image: string, context: RequestContext) => Promise<Float32Array>;

export function vectorsOfImages(container: InferenceContainer): VectorOfImage {
  return async (id, image, context) => {
    try {
      return await container.vector("/vectors", { id, image }, context);
    } catch (thrown) {
      throw withPrefix("no vector could be made: ", thrown);
    }
  };
}

/** Vectors of objects from their images (reference-graphql 8.6): the mean of those that are given. */
export function imageVectorizer(vectorOfImage: VectorOfImage): Vectorizer {
  const vectorOf = async (fields: readonly string[], { id, properties }: ObjectContent, context: RequestContext) => {
    const vectors: Float32Array[] = [];
    for (const field of fields) {
      const image = properties !== undefined && Object.hasOwn(properties, field) ? properties[field] : undefined;
      if (typeof image !== "string" || image === "") continue;
      vectors.push(await vectorOfImage(`${id}_${vectors.length}`, image, context));
    }
    if (vectors.length > 0) return { vector: meanOf(vectors) };
    const names = fields.map((field) => `'${field}'`).join(", ");
    throw new ShoalError("invalid", `the object has no image to make a vector of: imageFields are ${names}`);
  };
  return {
    vectorize: async (definition, objects, context) => {
      const fields = imageFieldsOf(definition);
      return mapConcurrently(objects, AT_ONCE, (object) =>
        vectorOf(fields, object, context).catch((thrown: unknown) => {
          context.signal?.throwIfAborted();
          return ShoalError.from(thrown);
        }),
      );
    },
  };
}
