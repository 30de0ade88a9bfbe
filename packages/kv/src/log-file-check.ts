import { maskedCrc32c } from "./masked-crc32c.js";

// RocksDB `db/log_format.h`: blocks of 32 KiB with records of header (masked CRC-32C of type and payload, length, type)
// and payload; a record does not cross a block. Write-ahead logs and MANIFEST files are such logs.
const BLOCK_BYTES = 32768;
const HEADER_BYTES = 7;
const TYPE_OFFSET = 6;
const RECORD_TYPE_MAX = 4;
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

/** Checks a log. RocksDB, as the addon opens it, leaves damaged records out without a word. */
export function checkLog(log: Uint8Array): LogCondition {
  const view = new DataView(log.buffer, log.byteOffset, log.length);
  let at = 0;
  while (at < log.length) {
    const blockLeft = BLOCK_BYTES - (at % BLOCK_BYTES);
    if (blockLeft < HEADER_BYTES) {
      at += blockLeft;
      continue;
    }
    if (log.length - at < HEADER_BYTES) return { wholeBytes: at, isDamaged: false };
    const length = view.getUint16(at + 4, true);
    const end = at + HEADER_BYTES + length;
    if (end <= log.length && HEADER_BYTES + length <= blockLeft && isWhole(log, view, at, length)) {
      at = end;
      continue;
    }
    return { wholeBytes: at, isDamaged: !isUnfinished(log, view, at, length, blockLeft) };
  }
  return { wholeBytes: log.length, isDamaged: false };
}

const FIRST_TYPE = 2;
const LAST_TYPE = 4;

/** What was written into a log, record by record, up to `wholeBytes`; records of several parts are put together. */
export function* logPayloads(log: Uint8Array, wholeBytes: number): Generator<Uint8Array, void> {
  const view = new DataView(log.buffer, log.byteOffset, log.length);
  let parts: Uint8Array[] = [];
  for (let at = 0; at < wholeBytes; ) {
    const blockLeft = BLOCK_BYTES - (at % BLOCK_BYTES);
    if (blockLeft < HEADER_BYTES) {
      at += blockLeft;
      continue;
    }
    const type = log[at + TYPE_OFFSET] ?? 0;
    const end = at + HEADER_BYTES + view.getUint16(at + 4, true);
    if (type <= FIRST_TYPE) parts = [];
    parts.push(log.subarray(at + HEADER_BYTES, end));
    if (type < FIRST_TYPE || type === LAST_TYPE) yield Buffer.concat(parts);
    at = end;
  }
}

function isWhole(log: Uint8Array, view: DataView, at: number, length: number): boolean {
  const type = log[at + TYPE_OFFSET] ?? 0;
  if (type === 0 || type > RECORD_TYPE_MAX) return false;
  return checksumFits(log, view, at, length);
}

function checksumFits(log: Uint8Array, view: DataView, at: number, length: number): boolean {
  return maskedCrc32c(log, at + TYPE_OFFSET, at + HEADER_BYTES + length) === view.getUint32(at, true);
}

function isUnfinished(log: Uint8Array, view: DataView, at: number, length: number, blockLeft: number): boolean {
  if (endsInZeros(log, at)) return true;
  if (HEADER_BYTES + length > blockLeft || at + HEADER_BYTES + length <= log.length) return false;
  // It reaches over the end of the file: cut off, unless it is whole with another length, one flipped bit away.
  for (let bit = 0; bit < 16; bit++) {
    const other = length ^ (1 << bit);
    if (at + HEADER_BYTES + other <= log.length && checksumFits(log, view, at, other)) return false;
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
