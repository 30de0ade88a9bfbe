import { closeName } from "../errors/nearest-name.js";
import { ShoalError, withPrefix } from "../errors/shoal-error.js";
import { quoteText } from "../objects/value-wording.js";
import { type ClassDefinition, PRIMITIVE_DATA_TYPES, type PrimitiveDataType } from "./class-definition.js";
import { invalidClassName, isClassName } from "./class-names.js";
import { ALL_SHOWN, type IsShown, unknownClass } from "./unknown-names.js";

const PRIMITIVES: ReadonlySet<string> = new Set(PRIMITIVE_DATA_TYPES);

/** The primitive type that `dataType` names, or undefined when it lists classes. */
export function primitiveDataType(dataType: readonly string[]): PrimitiveDataType | undefined {
  const only = dataType.length === 1 ? dataType[0] : undefined;
  return only !== undefined && PRIMITIVES.has(only) ? (only as PrimitiveDataType) : undefined;
}

/** Whether properties of this type hold cross-references. */
export function isReferenceDataType(dataType: readonly string[]): boolean {
  return primitiveDataType(dataType) === undefined;
}

/**
 * Fails with `invalid` unless `dataType` is one primitive type or names classes of `schema` only. `prefix` begins the
 * message, which suggests only classes that are shown. Texts: reference-rest 4.4; the legacy network form `Peer/Class` is no class name here.
 */
export function checkDataType(
  dataType: readonly string[],
  schema: readonly ClassDefinition[],
  prefix: string,
  isShown: IsShown = ALL_SHOWN,
): void {
  const [first, ...others] = dataType;
  if (first === undefined) throw new ShoalError("invalid", `${prefix}dataType must have at least one element`);
  if (primitiveDataType(dataType) !== undefined) return;
  if (others.length === 0) {
    if (first === "") throw new ShoalError("invalid", `${prefix}dataType cannot be an empty string`);
    if (/^\p{Ll}/u.test(first)) throw new ShoalError("invalid", `${prefix}${unknownType(first)}`);
  }
  const primitive = dataType.find((name) => PRIMITIVES.has(name));
  if (primitive !== undefined) {
    throw new ShoalError(
      "invalid",
      `${prefix}'${primitive}' is not a valid class name: it is a primitive data type, and a property has one of these or a list of classes`,
    );
  }
  for (const name of new Set(dataType)) {
    if (!isClassName(name)) throw new ShoalError("invalid", `${prefix}${invalidClassName(name)}`);
    if (!schema.some((known) => known.class === name)) {
      const shown = schema.filter((known) => isShown(known.class));
      throw withPrefix(prefix, unknownClass(name, shown));
    }
  }
}

function unknownType(type: string): string {
  const close = closeName(type, PRIMITIVE_DATA_TYPES);
  const advice =
    close === undefined
      ? `it must be a class, or one of ${PRIMITIVE_DATA_TYPES.join(", ")}`
      : `did you mean '${close}'?`;
  return `Unknown primitive data type ${quoteText(type)}: ${advice}`;
}
