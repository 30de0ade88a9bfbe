import { ShoalError } from "../errors/shoal-error.js";
import { printValue } from "../objects/value-wording.js";

/** Longest class or property name, in characters (all of them ASCII). */
export const NAME_CHARS_MAX = 255;

const CLASS_NAME = /^[A-Z][_0-9A-Za-z]*$/;
const PROPERTY_NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;

/** Names that mean something else in responses, filter paths or GraphQL. */
const RESERVED_PROPERTY_NAMES: ReadonlySet<string> = new Set([
  "_additional",
  "_id",
  "id",
  "_creationTimeUnix",
  "_lastUpdateTimeUnix",
]);

/** The name with its first letter in upper case. */
export function normaliseClassName(name: string): string {
  return upperFirst(name);
}

/** The name with its first letter in lower case. */
export function normalisePropertyName(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** Whether a normalised name is a class name: `^[A-Z][_0-9A-Za-z]*$`, at most 255 characters. */
export function isClassName(name: string): boolean {
  return name.length <= NAME_CHARS_MAX && CLASS_NAME.test(name);
}

/** Whether a name has the form of a property's, reserved ones included; at most 255 characters. */
export function isPropertyName(name: string): boolean {
  return name.length <= NAME_CHARS_MAX && PROPERTY_NAME.test(name);
}

/** Fails with `invalid` unless the normalised name is a class name. */
export function checkClassName(name: string): void {
  checkLength("class", name);
  if (!CLASS_NAME.test(name)) throw new ShoalError("invalid", invalidClassName(name));
}

/** What is wrong with a name that is none of a class. */
export function invalidClassName(name: string): string {
  return `'${printValue(name)}' is not a valid class name: ${brokenRule(name)}`;
}

function brokenRule(name: string): string {
  if (/^[a-z]/.test(name)) return "it must begin with an upper-case letter";
  if (/^[A-Z]/.test(name)) return "behind its first letter, only letters A to Z, digits and _ may follow";
  return "it must begin with a letter, followed by letters A to Z, digits and _ only";
}

/** Fails with `invalid` unless the normalised name may be the name of a property. */
export function checkPropertyName(name: string): void {
  checkLength("property", name);
  if (!PROPERTY_NAME.test(name)) {
    throw new ShoalError(
      "invalid",
      `'${printValue(name)}' is not a valid property name: it must begin with a letter or _, followed by letters A to Z, ` +
        "digits and _ only",
    );
  }
  if (RESERVED_PROPERTY_NAMES.has(name)) {
    throw new ShoalError(
      "invalid",
      `'${name}' is a reserved property name: it means something else in answers and filters`,
    );
  }
  if (name.startsWith("__")) {
    throw new ShoalError(
      "invalid",
      `'${name}' is not a valid property name: GraphQL keeps names that begin with '__' for itself`,
    );
  }
}

export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function checkLength(kind: string, name: string): void {
  if (name.length <= NAME_CHARS_MAX) return;
  const shown = `${name.slice(0, 40)}…`;
  throw new ShoalError(
    "invalid",
    `${kind} name '${shown}' has ${name.length} characters, at most ${NAME_CHARS_MAX} are allowed`,
  );
}
