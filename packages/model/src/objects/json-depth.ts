/**
 * Whether lists and objects in a parsed JSON value are nested deeper than `levels`. Parsers take any depth; what walks a value recursively,
 * `JSON.stringify` too, does not.
 */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((member) => isNestedDeeper(member, levels - 1));
}
