/** Held back on the disk, so that a process can start while it is full. */
export const BALLAST_BYTES = 16 * 1024 * 1024;
