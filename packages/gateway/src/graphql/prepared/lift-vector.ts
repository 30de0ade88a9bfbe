import { type Float32ListRead, readFloat32List } from "@shoal/native";
import { readFloat32 } from "../../json/read-float32.js";
import { behindJsonSpace, Code, isNamePart } from "./characters.js";
import type { LiftedLiterals } from "./lifted-literals.js";

/**
 * Lifts a list of numbers whose first one begins at `start`, out of a GraphQL text in a JSON string (numbers separated
 * by spaces, commas and escaped line ends). The answer is the place behind the closing bracket, or -1 when anything else
 * stands in the list or float32 cannot hold a number of it.
 */
export function liftVector(bytes: Uint8Array, start: number, literals: LiftedLiterals): number {
  const begun = beginVector(bytes, start, literals);
  if (begun === undefined) return -1;
  let { at, index } = begun;
  if (at > start) at = behindIgnored(bytes, at);
  while (bytes[at] !== Code.closeBracket) {
    const room = literals.vectorRoom(index);
    if (room === undefined) return -1;
    at = readFloat32(bytes, at, room, index++);
    if (at < 0) return -1;
    const next = bytes[at] as number;
    if (next === Code.point || isNamePart(next)) return -1;
    at = behindIgnored(bytes, at);
  }
  return literals.addVector(index) ? at + 1 : -1;
}

/** The same out of a JSON array: exactly one comma between numbers. */
export function liftJsonVector(bytes: Uint8Array, start: number, literals: LiftedLiterals): number {
  const begun = beginVector(bytes, start, literals);
  if (begun === undefined) return -1;
  let { at, index } = begun;
  for (let isBehindNumber = at > start; ; isBehindNumber = true) {
    if (isBehindNumber) {
      if (bytes[at] === Code.closeBracket) return literals.addVector(index) ? at + 1 : -1;
      if (bytes[at] !== Code.comma) return -1;
      at = behindJsonSpace(bytes, at + 1);
    }
    const room = literals.vectorRoom(index);
    if (room === undefined) return -1;
    at = readFloat32(bytes, at, room, index++);
    if (at < 0) return -1;
    at = behindJsonSpace(bytes, at);
  }
}

/** Reads what the addon takes of a list; where it takes nothing, it ends at `start`. Undefined when there are too many numbers. */
function beginVector(bytes: Uint8Array, start: number, literals: LiftedLiterals): Float32ListRead | undefined {
  const room = literals.vectorRoom(literals.vectorStart);
  return room && readFloat32List(bytes, start, room, literals.vectorStart);
}

/** The first place from `start` on that is no space, comma or escaped tab or line end. */
export function behindIgnored(bytes: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const byte = bytes[at];
    if (byte === Code.space || byte === Code.comma) at++;
    else if (byte === Code.backslash && isSpaceEscape(bytes[at + 1])) at += 2;
    else return at;
  }
}

export function isSpaceEscape(byte: number | undefined): boolean {
  return byte === Code.n || byte === Code.r || byte === Code.t;
}
