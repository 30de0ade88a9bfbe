const MIB = 1024 * 1024;

/** A process rests while its event loop is busy for at most this part of the time. */
const BUSY_PART_MAX = 0.1;
/**
 * Memory is given back when so many looks in a row have found the process at rest: soon, and once more when V8 makes the part of its heap for
 * new objects small, too, which it does after five seconds with few of them.
 */
const FIRST_LOOK = 2;
const LAST_LOOK = 7;
/** A collection is worth its time when so much has come since the last one. */
const WORTH_BYTES = 8 * MIB;

export interface GiveBackAtRestOptions {
  /** The part of the time since its last call in which the event loop was busy, 0 to 1. */
  readonly busyPart: () => number;
  readonly usedBytes: () => number;
  /** Gives back what is kept without being used; resolves when that has ended. */
  readonly giveBack: () => Promise<void>;
}

/**
 * The result is to be called about once a second. Once the process has come to rest, what the work before has left behind is given back:
 * V8 collects only what it needs room for, so garbage and freed memory would stay as long as nobody works.
 */
export function giveBackAtRest({ busyPart, usedBytes, giveBack }: GiveBackAtRestOptions): () => Promise<void> {
  let looks = 0;
  let keptBytes = 0;
  let isLastDue = false;
  return async () => {
    looks = busyPart() > BUSY_PART_MAX ? 0 : looks + 1;
    if (looks !== FIRST_LOOK && looks !== LAST_LOOK) return;
    // What keeps the process from staying at rest must not bring a collection of its own each time: the first one itself may.
    const isDue = looks === FIRST_LOOK ? usedBytes() - keptBytes >= WORTH_BYTES : isLastDue;
    if (!isDue) return;
    isLastDue = looks === FIRST_LOOK;
    await giveBack();
    keptBytes = usedBytes();
  };
}
