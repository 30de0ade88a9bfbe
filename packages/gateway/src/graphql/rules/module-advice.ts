/** Search arguments that only modules bring, and the modules: the vectorizer of the class must be one of them. */
const OF_VECTORIZERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["nearText", ["text2vec-contextionary", "text2vec-transformers"]],
  ["nearImage", ["img2vec-neural"]],
]);

/** What one enabled module brings to all classes: search arguments, and fields of `_additional`. */
const OF_ANY_CLASS: ReadonlyMap<string, readonly string[]> = new Map([
  ["ask", ["qna-transformers"]],
  ["answer", ["qna-transformers"]],
  ["tokens", ["ner-transformers"]],
  ["spellCheck", ["text-spellcheck"]],
  ["featureProjection", ["text2vec-contextionary", "text2vec-transformers"]],
  ["nearestNeighbors", ["text2vec-contextionary"]],
  ["semanticPath", ["text2vec-contextionary"]],
  ["interpretation", ["text2vec-contextionary"]],
]);

/** What to do about an unknown search argument that a module would bring; undefined when none would. */
export function argumentAdvice(name: string): string | undefined {
  const modules = OF_VECTORIZERS.get(name);
  if (modules === undefined) return fieldAdvice(name);
  const named = modules.join(" or ");
  return ` It needs a class with the vectorizer ${named}: name it in ENABLE_MODULES and as the vectorizer of the class.`;
}

/** What to do about an unknown field of `_additional` that a module would bring; undefined when none would. */
export function fieldAdvice(name: string): string | undefined {
  const modules = OF_ANY_CLASS.get(name);
  return modules && ` It needs the module ${modules.join(" or ")}: name it in ENABLE_MODULES.`;
}
