import { type Setting, setting } from "../setting.js";
import { hostPort, issuerUrl, namesOrNone, secret, text, truth } from "../setting-parsers.js";

/** A module's address, which it needs unless it has a back end of its own. */
function address(
  variable: string,
  key: string,
  meaning: string,
  parse: Setting<string | undefined>["parse"],
): Setting<string | undefined> {
  return { ...setting<string | undefined>(variable, key, undefined, meaning, parse), fallbackText: "none" };
}

/** Which modules there are, and where what they need is. */
export const MODULE_SETTINGS = {
  enableModules: {
    ...setting<readonly string[] | undefined>(
      "ENABLE_MODULES",
      "enable_modules",
      undefined,
      "Names of modules, separated by commas; none: no module at all. One that nobody knows stops the start.",
      namesOrNone,
    ),
    fallbackText: "all that have what they need",
  },
  defaultVectorizerModule: setting(
    "DEFAULT_VECTORIZER_MODULE",
    "default_vectorizer_module",
    "none",
    "Vectorizer of classes that name none: an enabled module, or none.",
    text,
  ),
  contextionaryUrl: address(
    "CONTEXTIONARY_URL",
    "contextionary.url",
    "host:port of a contextionary that text2vec-contextionary asks; without it, the word vectors that come with Shoal.",
    hostPort,
  ),
  contextionaryTls: setting(
    "CONTEXTIONARY_TLS",
    "contextionary.tls",
    false,
    "Whether CONTEXTIONARY_URL is asked over mutual TLS, with the INTERNAL_TLS_…_FILE of this process (of role gateway): for `shoal contextionary`; published containers have none.",
    truth,
  ),
  contextionaryStorageSecret: {
    ...address(
      "CONTEXTIONARY_STORAGE_SECRET",
      "contextionary.storage_secret",
      "With CONTEXTIONARY_URL: what a contextionary must know to keep here what it is taught (on METRICS_PORT); without it, it cannot.",
      secret,
    ),
    isSecret: true,
  },
  transformersInferenceApi: address(
    "TRANSFORMERS_INFERENCE_API",
    "transformers.inference_api",
    "Where the container of text2vec-transformers is: scheme, host and port; without it, a small English model, where installed.",
    issuerUrl,
  ),
  qnaInferenceApi: address(
    "QNA_INFERENCE_API",
    "qna.inference_api",
    "Where the container of qna-transformers is.",
    issuerUrl,
  ),
  imageInferenceApi: address(
    "IMAGE_INFERENCE_API",
    "image.inference_api",
    "Where the container of img2vec-neural is.",
    issuerUrl,
  ),
  nerInferenceApi: address(
    "NER_INFERENCE_API",
    "ner.inference_api",
    "Where the container of ner-transformers is; without it, rules for English that come with Shoal.",
    issuerUrl,
  ),
  spellcheckInferenceApi: address(
    "SPELLCHECK_INFERENCE_API",
    "spellcheck.inference_api",
    "Where the container of text-spellcheck is; without it, an English dictionary that comes with Shoal.",
    issuerUrl,
  ),
  moduleCachePath: {
    ...setting<string | undefined>(
      "MODULE_CACHE_PATH",
      "modules.cache_path",
      undefined,
      "Folder of files that modules make once and can make again: the converted word vectors.",
      text,
    ),
    fallbackText: "beside the code; of a contextionary, modules below PERSISTENCE_DATA_PATH",
  },
} as const;
