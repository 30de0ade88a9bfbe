import { CLIENT_PHRASES } from "../errors/client-phrases.js";
import { closeName } from "../errors/nearest-name.js";
import { ShoalError } from "../errors/shoal-error.js";
import { escapeText } from "../objects/value-wording.js";
import type { ClassDefinition } from "./class-definition.js";

/** Of a name that is not there so much is shown, and of those that are so many. */
const NAME_SHOWN_CHARS = 100;
const NAMES_SHOWN_MAX = 10;

/** Whether the errors of a request may name a class that the request does not name. */
export type IsShown = (className: string) => boolean;

export const ALL_SHOWN: IsShown = () => true;
/** Where nobody knows who asks. */
export const NONE_SHOWN: IsShown = () => false;

/**
 * The error for a class that is not there. It suggests the one of `classes` that was most probably meant: who may not see a
 * class must not be given it here.
 */
export function unknownClass(className: string, classes: readonly Pick<ClassDefinition, "class">[]): ShoalError {
  const close = closeName(
    className,
    classes.map((one) => one.class),
  );
  const advice = close === undefined ? "create it with POST /v1/schema first" : `did you mean '${close}'?`;
  return new ShoalError("invalid", `${CLIENT_PHRASES.classNotFound(shown(className))} in the schema: ${advice}`);
}

/** The error for a property that a class does not have; it suggests the one that was meant, or names those that there are. */
export function unknownProperty(name: string, className: string, properties: readonly string[]): ShoalError {
  const close = closeName(name, properties);
  const more = properties.length > NAMES_SHOWN_MAX ? ", …" : "";
  const advice =
    close !== undefined
      ? `did you mean '${close}'?`
      : properties.length === 0
        ? "it has no properties"
        : `it has ${properties.slice(0, NAMES_SHOWN_MAX).join(", ")}${more}`;
  return new ShoalError("invalid", `${CLIENT_PHRASES.propertyNotFound(shown(name), className)}: ${advice}`);
}

function shown(name: string): string {
  return escapeText(name.length <= NAME_SHOWN_CHARS ? name : `${name.slice(0, NAME_SHOWN_CHARS)}…`);
}
