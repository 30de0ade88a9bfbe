import { maskedCrc32c } from "./masked-crc32c.js";

// RocksDB `db/log_format.h`: blocks of 32 KiB with parts of records, each of a header (masked CRC-32C of type and payload, length, type)
// and payload; a part does not cross a block. Write-ahead logs and MANIFEST files are such logs.
const BLOCK_BYTES = 32_768;
const HEADER_BYTES = 7;
const TYPE_OFFSET = 6;
const FULL = 1;
const FIRST = 2;
const LAST = 4;
/** What a disk writes whole or not at all. */
const SECTOR_BYTES = 512;

export interface LogCondition {
  /** All records before this offset are whole. */
  readonly wholeBytes: number;
  /**
   * Whether what follows was changed after it was written. False also for a record that was never finished: it is cut
   * off by the end of the file, or zeros from a sector boundary on. A crash leaves it, and nobody was told that it is
   * there.
   */
  readonly isDamaged: boolean;
}

/** Checks a log. RocksDB, as the addon opens it, leaves damaged records out silently. */
export function checkLog(log: Uint8Array): LogCondition {
  const view = viewOf(log);
  let at = 0;
  while (at < log.length) {
    const blockEnd = endOfBlock(at);
    if (blockEnd - at < HEADER_BYTES) at = blockEnd;
    else if (log.length - at < HEADER_BYTES) return { wholeBytes: at, isDamaged: false };
    else if (isWholePart(log, view, at)) at = endOfPart(view, at);
    else return { wholeBytes: at, isDamaged: !isUnfinished(log, view, at) };
  }
  return { wholeBytes: log.length, isDamaged: false };
}

/** What was written to a log at once. */
export interface LogRecord {
  /** Where it begins in the log. */
  readonly offset: number;
  /** Of a damaged record what could be put together. */
  readonly payload: Uint8Array;
  /** All of it is as it was written. */
  readonly isWhole: boolean;
}

/** The records of a log, the damaged ones among them; one that the end of the log cuts off was never finished. */
export function* readLogRecords(log: Uint8Array): Generator<LogRecord> {
  let parts: Part[] = [];
  for (const part of partsOf(log)) {
    const begins = part.isWhole && (part.type === FULL || part.type === FIRST);
    if (begins && parts.length > 0) {
      yield recordOf(parts);
      parts = [];
    }
    parts.push(part);
    if (part.isWhole && part.type !== FULL && part.type !== LAST) continue;
    // Where a damaged part would end its record is not known: the next whole beginning shows it.
    if (!part.isWhole) continue;
    yield recordOf(parts);
    parts = [];
  }
  // Parts that are all whole wait for the last one, which was never written.
  if (parts.some((part) => !part.isWhole)) yield recordOf(parts);
}

function recordOf(parts: readonly Part[]): LogRecord {
  const [first] = parts;
  const isAll = parts.length === 1 ? first?.type === FULL : first?.type === FIRST && parts.at(-1)?.type === LAST;
  return {
    offset: first?.at ?? 0,
    payload:
      parts.length === 1 && first !== undefined ? first.payload : Buffer.concat(parts.map((part) => part.payload)),
    isWhole: isAll && parts.every((part) => part.isWhole),
  };
}

interface Part {
  readonly at: number;
  readonly type: number;
  readonly payload: Uint8Array;
  readonly isWhole: boolean;
}

function* partsOf(log: Uint8Array): Generator<Part> {
  const view = viewOf(log);
  let at = 0;
  while (log.length - at >= HEADER_BYTES) {
    const blockEnd = Math.min(log.length, endOfBlock(at));
    if (blockEnd - at < HEADER_BYTES || isZero(log, at, blockEnd)) {
      at = blockEnd;
      continue;
    }
    const end = endOfPart(view, at);
    const isWhole = isWholePart(log, view, at);
    // The length of a damaged one is believed when it leads to a whole one.
    const leads = end <= blockEnd && (blockEnd - end < HEADER_BYTES || isWholePart(log, view, end));
    const to = isWhole || leads ? end : blockEnd;
    yield { at, type: log[at + TYPE_OFFSET] ?? 0, payload: log.subarray(at + HEADER_BYTES, to), isWhole };
    at = to;
  }
}

function viewOf(log: Uint8Array): DataView {
  return new DataView(log.buffer, log.byteOffset, log.length);
}

function endOfBlock(at: number): number {
  return at - (at % BLOCK_BYTES) + BLOCK_BYTES;
}

function endOfPart(view: DataView, at: number): number {
  return at + HEADER_BYTES + view.getUint16(at + 4, true);
}

function isWholePart(log: Uint8Array, view: DataView, at: number): boolean {
  const type = log[at + TYPE_OFFSET] ?? 0;
  const end = endOfPart(view, at);
  const fits = end <= log.length && end <= endOfBlock(at);
  return fits && type >= FULL && type <= LAST && checksumFits(log, view, at, end);
}

function checksumFits(log: Uint8Array, view: DataView, at: number, end: number): boolean {
  return maskedCrc32c(log, at + TYPE_OFFSET, end) === view.getUint32(at, true);
}

function isUnfinished(log: Uint8Array, view: DataView, at: number): boolean {
  if (endsInZeros(log, at)) return true;
  const end = endOfPart(view, at);
  if (end > endOfBlock(at) || end <= log.length) return false;
  // It reaches over the end of the file: cut off, unless it is whole with another length, one flipped bit away.
  const length = view.getUint16(at + 4, true);
  for (let bit = 0; bit < 16; bit++) {
    const otherEnd = at + HEADER_BYTES + (length ^ (1 << bit));
    if (otherEnd <= log.length && checksumFits(log, view, at, otherEnd)) return false;
  }
  return true;
}

/** Whether all is zero from `at`, or from the next sector boundary behind it, to the end of the file. */
function endsInZeros(log: Uint8Array, at: number): boolean {
  let zeros = log.length;
  while (zeros > at && log[zeros - 1] === 0) zeros -= 1;
  if (zeros === at) return true;
  return Math.ceil(zeros / SECTOR_BYTES) * SECTOR_BYTES < log.length;
}

function isZero(log: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (log[at] !== 0) return false;
  return true;
}
