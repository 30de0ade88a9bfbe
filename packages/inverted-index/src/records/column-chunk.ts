import { COLUMN_CHUNK_DOCUMENTS } from "../index-keys.js";

/** Values of one document, in their order; at least one. */
export interface ColumnValues {
  readonly values: readonly number[];
  /** Of dates: nanoseconds within the millisecond, for each value; undefined when all are 0. */
  readonly rests: readonly number[] | undefined;
}

/** What a column has of a document: mostly one number. Undefined stands for none. */
export type ColumnValue = number | ColumnValues;

/*
 * A column chunk, little-endian:
 *  0  u8   width: 0 to 2 for whole numbers as u8, u16 or u32 above the smallest one; 3 for float64
 *  1  u8   1 when rests follow
 *  2  u16  number of values
 *  4  f64  smallest value; not with float64
 *     u8   for each value its document's offset in the chunk, ascending
 *     values
 *     u32  for each value its rest
 */
const BYTES_OF_WIDTH = [1, 2, 4, 8] as const;
const FLOAT64 = 3;
const HEADER_BYTES = 4;
const BASE_BYTES = 8;
const VALUES_MAX = 0xffff;

/**
 * Undefined for a chunk without values. A document may have thousands of them: beyond 65,535 in a chunk the number of
 * values is written as 0 and follows from the length.
 */
export function encodeColumnChunk(valueAt: (offset: number) => ColumnValue | undefined): Uint8Array | undefined {
  const offsets: number[] = [];
  const values: number[] = [];
  const rests: number[] = [];
  let hasRests = false;
  for (let offset = 0; offset < COLUMN_CHUNK_DOCUMENTS; offset++) {
    const value = valueAt(offset);
    if (value === undefined) continue;
    if (typeof value === "number") {
      offsets.push(offset);
      values.push(value);
      rests.push(0);
      continue;
    }
    hasRests ||= value.rests !== undefined;
    for (let at = 0; at < value.values.length; at++) {
      offsets.push(offset);
      values.push(value.values[at] ?? 0);
      rests.push(value.rests?.[at] ?? 0);
    }
  }
  return values.length === 0 ? undefined : write(offsets, values, hasRests ? rests : undefined);
}

function write(offsets: readonly number[], values: readonly number[], rests: readonly number[] | undefined): Buffer {
  let base = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let whole = true;
  for (const value of values) {
    if (value < base) base = value;
    if (value > most) most = value;
    whole &&= Number.isSafeInteger(value);
  }
  const width = whole ? widthOf(most - base) : FLOAT64;
  const size = BYTES_OF_WIDTH[width];
  const count = values.length;
  const head = HEADER_BYTES + (width === FLOAT64 ? 0 : BASE_BYTES);
  const bytes = Buffer.allocUnsafe(head + count * (1 + size + (rests === undefined ? 0 : 4)));
  bytes[0] = width;
  bytes[1] = rests === undefined ? 0 : 1;
  bytes.writeUInt16LE(count > VALUES_MAX ? 0 : count, 2);
  if (width !== FLOAT64) bytes.writeDoubleLE(base, HEADER_BYTES);
  let at = head;
  for (let index = 0; index < count; index++) bytes[at++] = offsets[index] ?? 0;
  for (let index = 0; index < count; index++, at += size) {
    if (width === FLOAT64) bytes.writeDoubleLE(values[index] ?? 0, at);
    else bytes.writeUIntLE((values[index] ?? 0) - base, at, size);
  }
  if (rests !== undefined) for (const rest of rests) at = bytes.writeUInt32LE(rest, at);
  return bytes;
}

function widthOf(span: number): 0 | 1 | 2 | 3 {
  if (span < 2 ** 8) return 0;
  if (span < 2 ** 16) return 1;
  return span < 2 ** 32 ? 2 : FLOAT64;
}

/** Calls for each document that has values, ascending; false when the bytes are no column chunk. */
export function decodeColumnChunk(value: Uint8Array, visit: (offset: number, value: ColumnValue) => void): boolean {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  const width = bytes[0] ?? 4;
  if (bytes.length < HEADER_BYTES || !isWidth(width) || (bytes[1] ?? 2) > 1) return false;
  const size = BYTES_OF_WIDTH[width];
  const head = HEADER_BYTES + (width === FLOAT64 ? 0 : BASE_BYTES);
  const hasRests = bytes[1] === 1;
  const count = (bytes.length - head) / (1 + size + (hasRests ? 4 : 0));
  if (!Number.isInteger(count) || count < 1) return false;
  if (bytes.readUInt16LE(2) !== (count > VALUES_MAX ? 0 : count)) return false;
  const base = width === FLOAT64 ? 0 : bytes.readDoubleLE(HEADER_BYTES);
  const valuesAt = head + count;
  const restsAt = valuesAt + count * size;
  const valueAt = (index: number): number =>
    width === FLOAT64
      ? bytes.readDoubleLE(valuesAt + index * 8)
      : base + bytes.readUIntLE(valuesAt + index * size, size);
  let previous = -1;
  for (let index = 0; index < count; ) {
    const offset = bytes[head + index] ?? 0;
    if (offset <= previous || offset >= COLUMN_CHUNK_DOCUMENTS) return false;
    previous = offset;
    let end = index + 1;
    while (end < count && bytes[head + end] === offset) end += 1;
    if (end === index + 1 && !hasRests) visit(offset, valueAt(index));
    else visit(offset, severalValues(index, end));
    index = end;
  }
  return true;

  function severalValues(start: number, end: number): ColumnValue {
    const values: number[] = [];
    const rests: number[] = [];
    for (let index = start; index < end; index++) {
      values.push(valueAt(index));
      if (hasRests) rests.push(bytes.readUInt32LE(restsAt + index * 4));
    }
    return columnValue(values, rests) ?? 0;
  }
}

function isWidth(width: number): width is 0 | 1 | 2 | 3 {
  return width <= FLOAT64;
}

/** The simplest form; undefined for no values. */
export function columnValue(values: readonly number[], rests: readonly number[] = []): ColumnValue | undefined {
  const [first] = values;
  const given = rests.some((rest) => rest !== 0) ? rests : undefined;
  return values.length === 1 && given === undefined
    ? first
    : first === undefined
      ? undefined
      : { values, rests: given };
}

export function isSameColumnValue(first: ColumnValue | undefined, second: ColumnValue | undefined): boolean {
  if (first === undefined || second === undefined || typeof first === "number" || typeof second === "number") {
    return first === second;
  }
  return isSameList(first.values, second.values) && isSameList(first.rests ?? [], second.rests ?? []);
}

function isSameList(first: readonly number[], second: readonly number[]): boolean {
  return first.length === second.length && first.every((value, at) => value === second[at]);
}
