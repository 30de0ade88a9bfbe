import { maskedCrc32c } from "./masked-crc32c.js";

// RocksDB `db/log_format.h`, as in `log-file-check.ts`.
const BLOCK_BYTES = 32_768;
const HEADER_BYTES = 7;
const TYPE_OFFSET = 6;
const FULL = 1;
const FIRST = 2;
const LAST = 4;

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
  let parts: Fragment[] = [];
  for (const fragment of fragments(log)) {
    const begins = fragment.isWhole && (fragment.type === FULL || fragment.type === FIRST);
    if (begins && parts.length > 0) {
      yield recordOf(parts);
      parts = [];
    }
    parts.push(fragment);
    if (fragment.isWhole && fragment.type !== FULL && fragment.type !== LAST) continue;
    // Where a damaged part would end its record is not known: the next whole beginning shows it.
    if (!fragment.isWhole) continue;
    yield recordOf(parts);
    parts = [];
  }
  // Parts that are all whole wait for the last one, which was never written.
  if (parts.some((part) => !part.isWhole)) yield recordOf(parts);
}

function recordOf(parts: readonly Fragment[]): LogRecord {
  const [first] = parts;
  const isAll = parts.length === 1 ? first?.type === FULL : first?.type === FIRST && parts.at(-1)?.type === LAST;
  return {
    offset: first?.at ?? 0,
    payload:
      parts.length === 1 && first !== undefined ? first.payload : Buffer.concat(parts.map((part) => part.payload)),
    isWhole: isAll && parts.every((part) => part.isWhole),
  };
}

interface Fragment {
  readonly at: number;
  readonly type: number;
  readonly payload: Uint8Array;
  readonly isWhole: boolean;
}

function* fragments(log: Uint8Array): Generator<Fragment> {
  const view = new DataView(log.buffer, log.byteOffset, log.length);
  let at = 0;
  while (log.length - at >= HEADER_BYTES) {
    const blockEnd = Math.min(log.length, at - (at % BLOCK_BYTES) + BLOCK_BYTES);
    if (blockEnd - at < HEADER_BYTES || isZero(log, at, blockEnd)) {
      at = blockEnd;
      continue;
    }
    const end = at + HEADER_BYTES + view.getUint16(at + 4, true);
    const isWhole = end <= blockEnd && fits(log, view, at, end);
    // The length of a damaged one is believed when it leads to a whole one.
    const leads = end <= blockEnd && (end === blockEnd || isWholeAt(log, view, end, blockEnd));
    const to = isWhole || leads ? end : blockEnd;
    yield { at, type: log[at + TYPE_OFFSET] ?? 0, payload: log.subarray(at + HEADER_BYTES, to), isWhole };
    at = to;
  }
}

function isWholeAt(log: Uint8Array, view: DataView, at: number, blockEnd: number): boolean {
  if (blockEnd - at < HEADER_BYTES) return true;
  const end = at + HEADER_BYTES + view.getUint16(at + 4, true);
  return end <= blockEnd && fits(log, view, at, end);
}

function fits(log: Uint8Array, view: DataView, at: number, end: number): boolean {
  const type = log[at + TYPE_OFFSET] ?? 0;
  return type >= FULL && type <= LAST && maskedCrc32c(log, at + TYPE_OFFSET, end) === view.getUint32(at, true);
}

function isZero(log: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (log[at] !== 0) return false;
  return true;
}
