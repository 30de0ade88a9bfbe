import { addon } from "./addon.js";

const native = addon as { returnFreeMemory(): boolean };

/**
 * Gives memory that was freed and is kept for later back to the system, in the background; some milliseconds for 100 MB. False
 * where the C library has no such call (only glibc has).
 */
export const returnFreeMemory = (): boolean => native.returnFreeMemory();
