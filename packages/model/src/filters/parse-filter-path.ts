import type { ShoalError } from "../errors/shoal-error.js";
import { printValue } from "../objects/value-wording.js";
import { isClassName, isPropertyName, normaliseClassName } from "../schema/class-names.js";

/**
 * The path of a clause, `property` or `reference, Class, …, property`, its classes in the form in which they are stored;
 * `rootClass` stands before the first property in messages. Classes and properties need not exist. Texts:
 * reference-graphql 2.3.
 */
export function parseFilterPath(
  segments: readonly unknown[],
  rootClass: string,
  refuse: (reason: string) => ShoalError,
): readonly string[] {
  const path: string[] = [];
  for (const [i, segment] of segments.entries()) {
    if (typeof segment !== "string") throw refuse(`element ${i} is not a string`);
    const name = i % 2 === 0 ? segment : normaliseClassName(segment);
    if (i % 2 === 0 && !isPropertyName(name)) {
      throw refuse(`Expected a valid property name in 'path' field for the filter, but got '${printValue(segment)}'`);
    }
    // A class that nothing follows is told by what is missing.
    if (i % 2 === 1 && i + 1 < segments.length && !isClassName(name)) {
      throw refuse(`Expected a valid class name in 'path' field for the filter but got '${printValue(segment)}'`);
    }
    path.push(name);
  }
  if (path.length % 2 === 1) return path;
  throw refuse(`missing an argument after '${printValue(segments.at(-1) ?? rootClass)}'`);
}
