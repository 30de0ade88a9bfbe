import { readFile, stat, truncate, writeFile } from "node:fs/promises";
import { NODE_DISK, type SnapshotDisk, type SnapshotFile } from "../snapshot-disk.js";

/** What happens at an operation: nothing of it is done, or a part of what is to be written. */
export type Failure = "before" | "half";

/**
 * A disk that fails at an operation: from then on nothing reaches it (`stays`), or all goes on (a disk that was full for a moment).
 * It knows what was not synced, to take that back as a power failure may.
 */
export class FailingDisk implements SnapshotDisk {
  operations = 0;
  /** Bytes that were written since the last look. */
  written = 0;
  failAt = Number.POSITIVE_INFINITY;
  failure: Failure = "before";
  stays = true;
  /** Contents of files as they were when they were last durable; undefined: there was none. */
  readonly #durable = new Map<string, Buffer | undefined>();

  async create(path: string): Promise<SnapshotFile> {
    await this.#step();
    await this.#remember(path);
    return this.#file(path, await NODE_DISK.create(path));
  }

  async open(path: string): Promise<SnapshotFile> {
    await this.#step();
    return this.#file(path, await NODE_DISK.open(path));
  }

  async replace(from: string, to: string): Promise<void> {
    await this.#step();
    await NODE_DISK.replace(from, to);
    this.#durable.delete(from);
    await this.#step();
  }

  async remove(path: string): Promise<void> {
    await this.#step();
    await NODE_DISK.remove(path);
  }

  async list(folder: string): Promise<readonly string[]> {
    await this.#step();
    return NODE_DISK.list(folder);
  }

  /** What was not synced is gone, as far as `chance` wants it for each file. */
  async losePower(chance: () => boolean): Promise<void> {
    for (const [path, content] of this.#durable) {
      if (!chance()) continue;
      const exists = await stat(path).then(
        () => true,
        () => false,
      );
      if (!exists) continue;
      if (content === undefined) await truncate(path, 0);
      else await writeFile(path, content);
    }
  }

  #file(path: string, file: SnapshotFile): SnapshotFile {
    return {
      size: () => file.size(),
      write: async (bytes, position) => {
        await this.#remember(path);
        const fails = await this.#step().then(
          () => undefined,
          (error: unknown) => error,
        );
        const part = fails === undefined ? bytes : bytes.subarray(0, this.failure === "half" ? bytes.length / 2 : 0);
        await file.write(part, position);
        if (fails !== undefined) throw fails;
        this.written += bytes.length;
      },
      sync: async () => {
        await this.#step();
        await file.sync();
        this.#durable.delete(path);
      },
      close: () => file.close(),
    };
  }

  async #remember(path: string): Promise<void> {
    if (!this.#durable.has(path)) this.#durable.set(path, await readFile(path).catch(() => undefined));
  }

  async #step(): Promise<void> {
    const at = this.operations++;
    if (at === this.failAt || (this.stays && at > this.failAt)) {
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    }
  }
}
