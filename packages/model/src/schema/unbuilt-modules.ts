/**
 * Modules of the reference, of then and of today, that this server does not have. Whoever builds one takes its name out;
 * a test holds that none of the registered ones is here.
 */
export const UNBUILT_MODULES: readonly string[] = [
  ...after("text2vec", "aws bigram cohere databricks google gpt4all huggingface jinaai mistral model2vec morph nvidia"),
  ...after("text2vec", "octoai ollama openai palm voyageai weaviate"),
  ...after("multi2vec", "aws bind clip cohere google jinaai nvidia palm voyageai weaviate"),
  ...after("multi2multivec", "jinaai weaviate"),
  ...after("text2multivec", "jinaai"),
  ...after("text2colbert", "jinaai"),
  ...after("ref2vec", "centroid"),
  ...after("qna", "openai"),
  ...after("sum", "transformers"),
  ...after("generative", "anthropic anyscale aws cohere contextualai databricks deepseek dummy friendliai google"),
  ...after("generative", "mistral nvidia octoai ollama openai palm xai"),
  ...after("reranker", "cohere contextualai dummy jinaai nvidia transformers voyageai"),
  ...after("backup", "azure filesystem gcs s3"),
  ...after("offload", "s3"),
  ...after("usage", "gcs s3"),
];

const NAMES: ReadonlySet<string> = new Set(UNBUILT_MODULES);

/** Whether the reference has a module of that name which this server does not have. */
export function isUnbuiltModule(name: string): boolean {
  return NAMES.has(name);
}

function after(kind: string, names: string): readonly string[] {
  return names.split(" ").map((name) => `${kind}-${name}`);
}
