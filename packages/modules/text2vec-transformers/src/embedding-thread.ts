import { serveThread } from "@shoal/inference";
import { EMBEDDINGS_PACKAGE, type EmbeddingsPackage, MODEL_PACKAGE, type ModelPackage } from "./embeddings-packages.js";

serveThread(async () => {
  const { initModel } = (await import(EMBEDDINGS_PACKAGE)) as EmbeddingsPackage;
  const { modelSource } = (await import(MODEL_PACKAGE)) as ModelPackage;
  const model = await initModel(modelSource);
  return async (texts: readonly string[]) => (await model.embed(texts)).map((vector) => Float32Array.from(vector));
});
