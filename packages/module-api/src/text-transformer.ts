import type { ModuleContext } from "./module-context.js";

/** Corrects what clients search for, before it becomes a vector. */
export interface TextTransformer {
  /** As many texts, in the same order. A failure is nobody's problem: the texts stay as they are then. */
  transform(texts: readonly string[], context: ModuleContext): Promise<readonly string[]>;
}
