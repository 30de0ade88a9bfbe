import type { JsonObject } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

export const MODULE_NAME = "ner-transformers";

/** A word that is part of a name. Positions count characters (code points); `endPosition` is behind the last one. */
export interface Token {
  /** `I-PER`, `I-LOC`, `I-ORG`, …: whatever the model tells apart. */
  readonly entity: string;
  readonly certainty: number;
  readonly word: string;
  readonly startPosition: number;
  readonly endPosition: number;
}

/** What finds names in texts. */
export interface Recognizer extends AsyncDisposable {
  tokens(text: string, context: RequestContext): Promise<readonly Token[]>;
  meta(context: RequestContext): Promise<JsonObject>;
  readonly awaitReady?: (context: RequestContext) => Promise<void>;
}
