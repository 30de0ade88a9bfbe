import { ShoalError } from "../errors/shoal-error.js";
import { type ClassDefinition, PRIMITIVE_DATA_TYPES, type PrimitiveDataType } from "./class-definition.js";
import { isClassName } from "./class-names.js";

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
 * message. Texts: reference-rest 4.4; the legacy network form `Peer/Class` is no class name here.
 */
export function checkDataType(dataType: readonly string[], schema: readonly ClassDefinition[], prefix: string): void {
  const [first, ...others] = dataType;
  if (first === undefined) throw new ShoalError("invalid", `${prefix}dataType must have at least one element`);
  if (primitiveDataType(dataType) !== undefined) return;
  if (others.length === 0) {
    if (first === "") throw new ShoalError("invalid", `${prefix}dataType cannot be an empty string`);
    if (/^\p{Ll}/u.test(first)) throw new ShoalError("invalid", `${prefix}Unknown primitive data type '${first}'`);
  }
  for (const name of new Set(dataType)) {
    if (!isClassName(name)) throw new ShoalError("invalid", `${prefix}'${name}' is not a valid class name`);
    if (!schema.some((known) => known.class === name)) {
      throw new ShoalError("invalid", `${prefix}SingleRef class name '${name}' does not exist`);
    }
  }
}
