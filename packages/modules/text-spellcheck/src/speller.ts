import type { JsonObject } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

export const MODULE_NAME = "text-spellcheck";

/** A word that is misspelt, and what it should be; in lower case. */
export interface Change {
  readonly original: string;
  readonly correction: string;
}

/** What knows how words are spelt. */
export interface Speller extends AsyncDisposable {
  /** The changes that any of the texts needs. */
  changes(texts: readonly string[], context: RequestContext): Promise<readonly Change[]>;
  meta(context: RequestContext): Promise<JsonObject>;
  readonly awaitReady?: (context: RequestContext) => Promise<void>;
}
