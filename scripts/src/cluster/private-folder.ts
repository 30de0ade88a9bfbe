import { chmodSync, mkdirSync } from "node:fs";

const MODE = 0o700;

/** Makes a folder for its owner alone, or one that is there into such a one. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: MODE });
  chmodSync(path, MODE);
}
