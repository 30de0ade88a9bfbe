import { setting } from "../setting.js";
import { hostPort, issuerUrl, namesOrNone, secret, text, truth } from "../setting-parsers.js";

/** Which modules there are, and where what they need is. */
export const MODULE_SETTINGS = {
  enableModules: setting("ENABLE_MODULES", "enable_modules", namesOrNone, {
    fallbackText: "all that have what they need",
    meaning: "Names of modules, separated by commas; none: no module at all. An unknown one stops the start.",
  }),
  defaultVectorizerModule: setting("DEFAULT_VECTORIZER_MODULE", "default_vectorizer_module", text, {
    fallback: "none",
    meaning: "Vectorizer of classes that name none: an enabled module, or none.",
  }),
  contextionaryUrl: setting("CONTEXTIONARY_URL", "contextionary.url", hostPort, {
    meaning:
      "host:port of a contextionary for text2vec-contextionary; without it, the word vectors that come with Shoal.",
  }),
  contextionaryTls: setting("CONTEXTIONARY_TLS", "contextionary.tls", truth, {
    fallback: false,
    meaning:
      "Whether CONTEXTIONARY_URL is called over mutual TLS, with the INTERNAL_TLS_…_FILE of this process (of role gateway): for `shoal contextionary`; published containers have none.",
  }),
  contextionaryStorageSecret: setting("CONTEXTIONARY_STORAGE_SECRET", "contextionary.storage_secret", secret, {
    isSecret: true,
    meaning:
      "With CONTEXTIONARY_URL: the secret with which a contextionary may store here what it is taught (on METRICS_PORT); without it, it cannot.",
  }),
  transformersInferenceApi: setting("TRANSFORMERS_INFERENCE_API", "transformers.inference_api", issuerUrl, {
    meaning:
      "Where the container of text2vec-transformers is: scheme, host and port; without it, a small English model, where installed.",
  }),
  qnaInferenceApi: setting("QNA_INFERENCE_API", "qna.inference_api", issuerUrl, {
    meaning: "Where the container of qna-transformers is.",
  }),
  imageInferenceApi: setting("IMAGE_INFERENCE_API", "image.inference_api", issuerUrl, {
    meaning: "Where the container of img2vec-neural is.",
  }),
  nerInferenceApi: setting("NER_INFERENCE_API", "ner.inference_api", issuerUrl, {
    meaning: "Where the container of ner-transformers is; without it, rules for English that come with Shoal.",
  }),
  spellcheckInferenceApi: setting("SPELLCHECK_INFERENCE_API", "spellcheck.inference_api", issuerUrl, {
    meaning: "Where the container of text-spellcheck is; without it, an English dictionary that comes with Shoal.",
  }),
  moduleCachePath: setting("MODULE_CACHE_PATH", "modules.cache_path", text, {
    fallbackText: "beside the code; of a contextionary, modules below PERSISTENCE_DATA_PATH",
    meaning: "Folder of files that modules create once and can create again: the converted word vectors.",
  }),
} as const;
