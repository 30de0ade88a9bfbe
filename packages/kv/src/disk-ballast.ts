import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "./durable-files.js";
import { isDiskFull } from "./rocks-error.js";

const PIECE_BYTES = 1 << 20;

/**
 * A file that holds `bytes` of the disk for the moment when it is full: RocksDB cannot open a store without room to
 * write. One ballast may serve all stores of a disk.
 */
export class DiskBallast {
  #work: Promise<unknown> = Promise.resolve();
  #isHeld = false;
  #borrowers = 0;

  constructor(
    readonly file: string,
    readonly bytes: number,
  ) {}

  /** Whether the file is known to be there. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Makes the file unless it is there, or somebody has its room; `isHeld` tells. */
  ensure(): Promise<void> {
    return this.#inTurn(async () => {
      this.#isHeld = (await this.exists()) || (this.#borrowers === 0 && (await this.#make()));
    });
  }

  async exists(): Promise<boolean> {
    return (await sizeOf(this.file)) === this.bytes;
  }

  /** Gives the bytes to the disk until all that have borrowed them have given them back. */
  async borrow(): Promise<AsyncDisposable> {
    this.#borrowers += 1;
    await this.#inTurn(() => this.#remove());
    return {
      [Symbol.asyncDispose]: async () => {
        this.#borrowers -= 1;
        // The stores report a disk that fails now.
        await this.ensure().catch(() => undefined);
      },
    };
  }

  /**
   * Gives the bytes to the disk and takes a step that has failed for want of room again. One after another: what one
   * step has needed for a while, or has given back at its end, is room for the next one.
   */
  withRoom<T>(step: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#remove();
      return step();
    });
  }

  async #remove(): Promise<void> {
    this.#isHeld = false;
    await rm(this.file, { force: true });
  }

  /** False when the disk has no room for all of it; more than half is better than nothing. */
  async #make(): Promise<boolean> {
    const temporary = `${this.file}.new`;
    try {
      await this.#fill(temporary);
      await rename(temporary, this.file);
      return true;
    } catch (error) {
      const kept = isDiskFull(error) ? await sizeOf(temporary) : 0;
      if (kept > this.bytes / 2) await rename(temporary, this.file);
      else await rm(temporary, { force: true });
      if (isDiskFull(error)) return false;
      throw error;
    }
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
    await syncFolder(dirname(file));
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#work.then(step);
    this.#work = result.catch(() => {});
    return result;
  }
}

/** 0 when it is not there. */
async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
