import { ShoalError, withPrefix } from "@shoal/model";
import type { ModuleResources, SearchArgument } from "@shoal/module-api";
import type { VectorOfImage } from "./image-vectorizer.js";

/** The argument `nearImage`: what looks like an image (reference-graphql 8.6). */
export function nearImage(vectorOfImage: VectorOfImage, nowMs: ModuleResources["nowMs"]): SearchArgument {
  return {
    name: "nearImage",
    typePrefix: "Img2VecImage",
    offeredTo: "ownClasses",
    input: () => ({
      typeSuffix: "NearImageInpObj",
      fields: {
        image: { type: "String", required: true, description: "An image in base64." },
        certainty: { type: "Float", description: "The least certainty of rows." },
      },
    }),
    texts: () => [],
    withTexts: (value) => value,
    async vector({ image }, _world, context) {
      if (typeof image !== "string" || image === "") {
        throw new ShoalError("invalid", "nearImage.image is empty: give an image in base64");
      }
      try {
        return await vectorOfImage(`search_${nowMs()}000000`, image, context);
      } catch (thrown) {
        throw withPrefix("nearImage: ", thrown);
      }
    },
  };
}
