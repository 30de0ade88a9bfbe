import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { appendFile, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { undoAtEnd } from "./cluster/cleanup.js";

const MIB = 1024 * 1024;
const FILLER = "filler";

/** A small tmpfs that can be filled up. Needs root. */
export class SmallDisk implements Disposable {
  readonly folder: string;
  readonly #undo: Disposable;

  constructor(mib: number) {
    this.folder = mkdtempSync(join(tmpdir(), "shoal-small-disk-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mib}m`, "tmpfs", this.folder]);
    this.#undo = undoAtEnd(() => {
      execFileSync("umount", ["-l", this.folder]);
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  /** Takes all but so much of what is free. */
  async fill(leftMib: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    const bytes = bavail * bsize - leftMib * MIB;
    if (bytes <= 0) return;
    try {
      await appendFile(join(this.folder, FILLER), Buffer.alloc(bytes));
    } catch (thrown) {
      // Others may have written meanwhile: the disk is as full as it was to be.
      if (leftMib > 0 || (thrown as NodeJS.ErrnoException).code !== "ENOSPC") throw thrown;
    }
  }

  /** Gives back what {@link fill} took. */
  async free(): Promise<void> {
    await rm(join(this.folder, FILLER), { force: true });
  }

  [Symbol.dispose](): void {
    this.#undo[Symbol.dispose]();
  }
}
