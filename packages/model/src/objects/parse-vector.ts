import { CLIENT_PHRASES } from "../errors/client-phrases.js";
import { ShoalError } from "../errors/shoal-error.js";
import { JsonNumber } from "./json-number.js";
import { describeValue } from "./value-wording.js";

/** Longest vector. */
export const VECTOR_DIMENSIONS_MAX = 65_535;

/**
 * A vector from parsed JSON (or one that is a Float32Array already, which is checked and given back as it is): 1 to
 * 65,535 numbers, each finite as float32. Fails with `invalid`, naming the first element that is none.
 */
export function parseVector(value: unknown): Float32Array {
  const given = checkedLength(value);
  if (given instanceof Float32Array) {
    for (let i = 0; i < given.length; i++) if (!isFiniteNumber(given[i] ?? 0)) throw badElement(i, given[i]);
    return given;
  }
  const vector = new Float32Array(given.length);
  for (let i = 0; i < given.length; i++) {
    const element = given[i];
    if (typeof element === "number") vector[i] = element;
    else if (element instanceof JsonNumber) vector[i] = element.toNumber();
    else throw badElement(i, element);
    // Checked as stored: 1e39 is a number, but no float32.
    if (!isFiniteNumber(vector[i] ?? 0)) throw badElement(i, element);
  }
  return vector;
}

/** Whether nothing was sent for a vector: absent, null, or of length 0. */
export function isVectorMissing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return (Array.isArray(value) || value instanceof Float32Array) && value.length === 0;
}

/** Fails with `invalid` unless a vector of `got` dimensions fits a class of `dimensions`. */
export function checkDimensions(className: string, got: number, dimensions: number): void {
  if (got === dimensions) return;
  throw new ShoalError(
    "invalid",
    `class '${className}' has vectors of ${dimensions} dimensions, got one of ${got} ` +
      `(${CLIENT_PHRASES.vectorLengths(got, dimensions)}): use a vector of the same model, or a class of its own`,
  );
}

function checkedLength(value: unknown): readonly unknown[] | Float32Array {
  if (!Array.isArray(value) && !(value instanceof Float32Array)) {
    throw new ShoalError("invalid", `the vector must be a list of numbers, but got ${describeValue(value)}`);
  }
  if (value.length >= 1 && value.length <= VECTOR_DIMENSIONS_MAX) return value;
  throw new ShoalError("invalid", `a vector has from 1 to ${VECTOR_DIMENSIONS_MAX} dimensions, got ${value.length}`);
}

function isFiniteNumber(value: number): boolean {
  return value - value === 0;
}

function badElement(index: number, element: unknown): ShoalError {
  return new ShoalError(
    "invalid",
    `element ${index} of the vector must be a number within the range of float32, but got ${describeValue(element)}`,
  );
}
