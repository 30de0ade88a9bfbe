import { randomBytes } from "node:crypto";

const BYTES = 32;

/** By which a data folder is known again. */
export function newNodeSecret(): string {
  return randomBytes(BYTES).toString("hex");
}
