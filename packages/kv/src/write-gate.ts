import { ShoalError } from "@shoal/model";
import type { DiskBallast } from "./disk-ballast.js";
import { freeBytes } from "./disk-of.js";
import { DISK_FULL_RETRY_SECONDS, isDiskFull } from "./rocks-error.js";

/**
 * `writable`; `full`: the disk is, writes come back by themselves; `failed`: the disk is faulty, no write is taken until
 * the store is opened again, or the folder could not be closed; `closed`.
 */
export type StoreState = "writable" | "full" | "failed" | "closed";

export interface WriteGateOptions {
  readonly folder: string;
  /** Bytes of the disk that writes leave alone: room for what RocksDB does behind them, flushing memtables and merging files. */
  readonly diskReserveBytes: number;
  readonly ballast: DiskBallast | undefined;
  /** How often a full disk is looked at. */
  readonly fullDiskRetryMs: number;
  /** Opens RocksDB again: a log whose last write failed must not be written to again. */
  readonly reopen: () => Promise<void>;
  /** Whether a flush or a merge has failed in the open database: RocksDB tells of it at the next write, by refusing it. */
  readonly hasBackgroundError: () => boolean;
  /** Whether RocksDB may be closed now, and so reopened. */
  readonly isAtRest: () => Promise<boolean>;
  readonly onState: (state: StoreState, reason: string) => void;
}

/** Time between two looks at the free space while writes go on. */
const SPACE_CHECK_MS = 500;
const SPACE_CHECK_BYTES = 1 << 20;
/** Writes come back when so many reserves are free. */
const RESUME_FACTOR = 1.25;
/** Reopening for a few bytes of room would only end the scans that are open. */
const REOPEN_FREE_BYTES_MIN = 4 << 20;

/** Says whether writes may go to the disk, and opens again when a full disk has room. */
export class WriteGate {
  #current: StoreState = "writable";
  #reason: ShoalError | undefined;
  #mustReopen = false;
  #failedWrite: Error | undefined;
  #timer: NodeJS.Timeout | undefined;
  #recovering: Promise<void> | undefined;
  #checking: Promise<void> | undefined;
  #checkedAt = 0;
  #bytesSinceCheck = 0;
  readonly #options: WriteGateOptions;

  constructor(options: WriteGateOptions) {
    this.#options = options;
  }

  get state(): StoreState {
    return this.#current;
  }

  /** Why a write cannot be taken now. */
  get refusal(): ShoalError | undefined {
    return this.#reason;
  }

  /** How a write has failed in the log that is open, if one has. */
  get failedWrite(): Error | undefined {
    return this.#failedWrite;
  }

  /** Looks at the free space, now and then: writes stop before RocksDB runs out of it. */
  beforeCommit(bytes: number, nowMs: number): void {
    this.#bytesSinceCheck += bytes;
    if (nowMs - this.#checkedAt < SPACE_CHECK_MS && this.#bytesSinceCheck < SPACE_CHECK_BYTES) return;
    this.#checkedAt = nowMs;
    this.#bytesSinceCheck = 0;
    this.#checking ??= this.checkSpace().finally(() => {
      this.#checking = undefined;
    });
  }

  /** Goes to `full` when less than the reserve is free. A disk that cannot be asked is left to the writes themselves. */
  async checkSpace(): Promise<void> {
    const { folder, diskReserveBytes } = this.#options;
    const free = await freeBytes(folder).catch(() => Number.POSITIVE_INFINITY);
    if (free < diskReserveBytes && this.#current === "writable") {
      this.#becomeFull(`${megabytes(free)} are free, ${megabytes(diskReserveBytes)} are kept in reserve`);
    }
    if (this.#current === "writable") await this.#holdBallast(free).catch(() => {});
  }

  /** A commit failed: the error for its callers. */
  failed(error: unknown): ShoalError {
    if (error instanceof ShoalError) return error;
    this.#failedWrite = ShoalError.from(error);
    if (isDiskFull(error)) {
      this.#mustReopen = true;
      if (this.#current === "writable") this.#becomeFull(ShoalError.from(error).message);
    } else if (this.#current === "writable" || this.#current === "full") {
      this.#stop("failed", this.#error(`has failed: ${ShoalError.from(error).message}`, error));
    }
    return this.#reason ?? ShoalError.from(error);
  }

  async close(): Promise<void> {
    this.#stop("closed", new ShoalError("unavailable", `store ${this.#options.folder} is closed`));
    await this.#recovering;
    await this.#checking;
  }

  /** After `close`: the folder could not be closed. */
  leaveOpen(): void {
    this.#stop("failed", this.#error("is left open, the disk has no room for what it would write", undefined));
  }

  /** Makes the ballast out of what is free beyond the reserve; when there is too little, at a later look. */
  async #holdBallast(free: number): Promise<void> {
    const { ballast, diskReserveBytes } = this.#options;
    if (ballast === undefined || ballast.isHeld) return;
    if (free >= diskReserveBytes * RESUME_FACTOR + ballast.bytes || (await ballast.exists())) {
      await ballast.ensure();
    }
  }

  #becomeFull(why: string): void {
    this.#stop("full", this.#error(`takes no writes, the disk is full: ${why}`, undefined));
    this.#lookLater();
  }

  #stop(state: StoreState, reason: ShoalError): void {
    clearTimeout(this.#timer);
    this.#current = state;
    this.#reason = reason;
    this.#options.onState(state, reason.message);
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => {
      this.#recovering = this.#recover().finally(() => {
        this.#recovering = undefined;
      });
    }, this.#options.fullDiskRetryMs);
    this.#timer.unref();
  }

  async #recover(): Promise<void> {
    const { folder, diskReserveBytes, reopen, hasBackgroundError, isAtRest, onState } = this.#options;
    try {
      this.#mustReopen ||= hasBackgroundError();
      const needed = Math.max(diskReserveBytes * RESUME_FACTOR, this.#mustReopen ? REOPEN_FREE_BYTES_MIN : 0);
      if ((await freeBytes(folder)) < needed) return;
      if (this.#mustReopen) {
        if (!(await isAtRest()) || this.#current !== "full") return;
        await reopen();
        this.#failedWrite = undefined;
        this.#mustReopen = false;
      }
      await this.#holdBallast(await freeBytes(folder));
      if (this.#current !== "full") return;
      this.#current = "writable";
      this.#reason = undefined;
      onState("writable", "the disk has room again");
    } catch {
      // Still no room to open: look again.
    } finally {
      if (this.#current === "full") this.#lookLater();
    }
  }

  #error(what: string, cause: unknown): ShoalError {
    return new ShoalError("unavailable", `store ${this.#options.folder} ${what}`, {
      cause,
      ...(what.startsWith("takes") ? { retryAfterSeconds: DISK_FULL_RETRY_SECONDS } : {}),
    });
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
