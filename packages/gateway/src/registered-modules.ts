import { IMAGE_MODULE } from "@shoal/img2vec-neural";
import type { ModuleRegistration } from "@shoal/module-api";
import { NER_MODULE } from "@shoal/ner-transformers";
import { QNA_MODULE } from "@shoal/qna-transformers";
import { SPELLCHECK_MODULE } from "@shoal/text-spellcheck";
import { CONTEXTIONARY_MODULE } from "@shoal/text2vec-contextionary";
import { TRANSFORMERS_MODULE } from "@shoal/text2vec-transformers";

/** Every module that can be enabled: the only place that knows them. */
export const REGISTERED_MODULES: readonly ModuleRegistration[] = [
  CONTEXTIONARY_MODULE,
  TRANSFORMERS_MODULE,
  IMAGE_MODULE,
  QNA_MODULE,
  NER_MODULE,
  SPELLCHECK_MODULE,
];

/** For the process that serves one module's back end to others. */
export { startContextionary } from "@shoal/text2vec-contextionary";
