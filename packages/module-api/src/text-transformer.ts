import type { RequestContext } from "@shoal/runtime";

/** Corrects what clients search for, before it becomes a vector. */
export interface TextTransformer {
  /** As many texts, in the same order. A failure is nobody's problem: the texts stay as they are then. */
  transform(texts: readonly string[], context: RequestContext): Promise<readonly string[]>;
}
