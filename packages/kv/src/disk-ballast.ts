import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isDiskFull } from "./rocks-error.js";

const PIECE_BYTES = 1 << 20;

/**
 * A file that holds `bytes` of the disk for the moment when it is full: RocksDB cannot open a store without room to
 * write. One ballast may serve all stores of a disk.
 */
export class DiskBallast {
  #work: Promise<unknown> = Promise.resolve();

  constructor(
    readonly file: string,
    readonly bytes: number,
  ) {}

  /** Makes the file unless it is there; false when the disk has no room for it. */
  ensure(): Promise<boolean> {
    return this.#inTurn(async () => {
      if ((await this.#size()) === this.bytes) return true;
      const temporary = `${this.file}.new`;
      try {
        await this.#fill(temporary);
        await rename(temporary, this.file);
        return true;
      } catch (error) {
        await rm(temporary, { force: true });
        if (isDiskFull(error)) return false;
        throw error;
      }
    });
  }

  async exists(): Promise<boolean> {
    return (await this.#size()) === this.bytes;
  }

  /** Gives the bytes back to the disk. */
  release(): Promise<void> {
    return this.#inTurn(() => rm(this.file, { force: true }));
  }

  /**
   * Gives the bytes back to the disk and takes a step that has failed for want of room again. One after another: what one
   * step has needed for a while, or has given back at its end, is room for the next one.
   */
  withRoom<T>(step: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await rm(this.file, { force: true });
      return step();
    });
  }

  /** Written byte by byte, and not with zeros: a sparse or compressed file would hold nothing. */
  async #fill(file: string): Promise<void> {
    const handle = await open(file, "w");
    try {
      const piece = Buffer.alloc(Math.min(PIECE_BYTES, this.bytes));
      for (let i = 0, state = 1; i < piece.length; i++) {
        state = Math.imul(state, 1664525) + 1013904223;
        piece[i] = state >>> 24;
      }
      for (let written = 0; written < this.bytes; ) {
        written += (await handle.write(piece, 0, Math.min(piece.length, this.bytes - written))).bytesWritten;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    const folder = await open(dirname(file), "r");
    await folder.sync().finally(() => folder.close());
  }

  async #size(): Promise<number | undefined> {
    return stat(this.file).then(
      (stats) => stats.size,
      () => undefined,
    );
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#work.then(step);
    this.#work = result.catch(() => {});
    return result;
  }
}
