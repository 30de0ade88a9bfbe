import { type JsonObject, type ObjectId, type RowFields, ShoalError, type StoredObject } from "@shoal/model";

/*
 * A row, little-endian:
 *  0  u8   row version (1)
 *  1  u8   flags: 1 has a vector, 2 has extras
 *  2  u16  0
 *  4  u32  document id
 *  8  u64  sequence of the change that wrote it
 * 16  u64  epoch of that change
 * 24  f64  creation time, milliseconds since 1970
 * 32  f64  last update time
 * 40  u32  bytes of the properties
 * 44  u32  bytes of the extras
 * 48  u32  dimensions of the vector
 * 52  u32  0
 * 56  properties as UTF-8 JSON, extras as UTF-8 JSON, vector as float32
 */
const ROW_VERSION = 1;
const HAS_VECTOR = 1;
const HAS_EXTRAS = 2;
const HEADER_BYTES = 56;

/** What a row is made of before its shard has given it a document id, a sequence and times. */
export interface RowContent {
  /** UTF-8 JSON. */
  readonly propertiesJson: string | Uint8Array;
  readonly extrasJson: string | Uint8Array | undefined;
  /** Float32 values, or the bytes of some. */
  readonly vector: Float32Array | Uint8Array | undefined;
}

/** How large the row of an object may be. */
export interface RowBound {
  readonly id: ObjectId;
  readonly bytesMax: number;
  /** Of the row that it takes the place of: one that does not grow is never too large. */
  readonly bytesBefore: number;
}

/** The bytes of a row without its stamp. Fails with `tooLarge`, before it takes any memory. */
export function encodeRow(content: RowContent, bound: RowBound): Buffer {
  const propertiesBytes = byteLength(content.propertiesJson);
  const extrasBytes = content.extrasJson === undefined ? 0 : byteLength(content.extrasJson);
  const vectorBytes = content.vector?.byteLength ?? 0;
  const rowBytes = HEADER_BYTES + propertiesBytes + extrasBytes + vectorBytes;
  if (rowBytes > bound.bytesMax && rowBytes > bound.bytesBefore) throw tooLarge(rowBytes, bound);
  const row = Buffer.allocUnsafe(rowBytes);
  row.fill(0, 0, HEADER_BYTES);
  row[0] = ROW_VERSION;
  row[1] = (content.vector === undefined ? 0 : HAS_VECTOR) | (content.extrasJson === undefined ? 0 : HAS_EXTRAS);
  row.writeUInt32LE(propertiesBytes, 40);
  row.writeUInt32LE(extrasBytes, 44);
  row.writeUInt32LE(vectorBytes / 4, 48);
  writeText(content.propertiesJson, row, HEADER_BYTES);
  if (content.extrasJson !== undefined) writeText(content.extrasJson, row, HEADER_BYTES + propertiesBytes);
  if (content.vector !== undefined) {
    const { buffer, byteOffset, byteLength } = content.vector;
    row.set(new Uint8Array(buffer, byteOffset, byteLength), HEADER_BYTES + propertiesBytes + extrasBytes);
  }
  return row;
}

export function stampTimes(row: Buffer, creationTimeUnix: number, lastUpdateTimeUnix: number): void {
  row.writeDoubleLE(creationTimeUnix, 24);
  row.writeDoubleLE(lastUpdateTimeUnix, 32);
}

export function stampPlace(row: Buffer, document: number, sequence: number, epoch: number): void {
  row.writeUInt32LE(document, 4);
  writeUint64(row, sequence, 8);
  writeUint64(row, epoch, 16);
}

/** A row that is read in place: nothing is parsed or copied before it is asked for. */
export class RowView {
  readonly #bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Where the row ends that `withoutVector` wrote to `bytes` at `start`. */
  static endWithoutVector(bytes: Buffer, start: number): number {
    return start + HEADER_BYTES + bytes.readUInt32LE(start + 40) + bytes.readUInt32LE(start + 44);
  }

  /** The document of the row that begins in `bytes` at `start`. */
  static documentAt(bytes: Buffer, start: number): number {
    return bytes.readUInt32LE(start + 4);
  }

  /** Undefined when `bytes` are not a row that this code can read. Checksums are the store's matter. */
  static of(bytes: Uint8Array): RowView | undefined {
    const row = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (row.length < HEADER_BYTES || row[0] !== ROW_VERSION) return undefined;
    const view = new RowView(row);
    return view.#vectorOffset + view.dimensions * 4 === row.length ? view : undefined;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }
  get document(): number {
    return this.#bytes.readUInt32LE(4);
  }
  get sequence(): number {
    return readUint64(this.#bytes, 8);
  }
  get epoch(): number {
    return readUint64(this.#bytes, 16);
  }
  get creationTimeUnix(): number {
    return this.#bytes.readDoubleLE(24);
  }
  get lastUpdateTimeUnix(): number {
    return this.#bytes.readDoubleLE(32);
  }
  get hasVector(): boolean {
    return ((this.#bytes[1] ?? 0) & HAS_VECTOR) !== 0;
  }
  get dimensions(): number {
    return this.#bytes.readUInt32LE(48);
  }
  get propertiesJson(): Uint8Array {
    return this.#bytes.subarray(HEADER_BYTES, HEADER_BYTES + this.#bytes.readUInt32LE(40));
  }
  /** UTF-8 JSON, undefined when there are none. */
  get extrasJson(): Uint8Array | undefined {
    if (((this.#bytes[1] ?? 0) & HAS_EXTRAS) === 0) return undefined;
    const from = HEADER_BYTES + this.#bytes.readUInt32LE(40);
    return this.#bytes.subarray(from, from + this.#bytes.readUInt32LE(44));
  }
  /** Float32 values, little-endian, at any alignment; empty when there is no vector. */
  get vectorBytes(): Uint8Array {
    return this.#bytes.subarray(this.#vectorOffset);
  }
  get #vectorOffset(): number {
    return HEADER_BYTES + this.#bytes.readUInt32LE(40) + this.#bytes.readUInt32LE(44);
  }

  /** The row without its vector, as `RowView.of` reads it: what is worth keeping in memory. */
  withoutVector(target: Buffer): void {
    this.#bytes.copy(target, 0, 0, this.#vectorOffset);
    target[1] = (target[1] ?? 0) & ~HAS_VECTOR;
    target.writeUInt32LE(0, 48);
  }
  get bytesWithoutVector(): number {
    return this.#vectorOffset;
  }

  vector(): Float32Array | undefined {
    if (!this.hasVector) return undefined;
    const vector = new Float32Array(this.dimensions);
    new Uint8Array(vector.buffer).set(this.vectorBytes);
    return vector;
  }

  toObject(id: ObjectId, className: string, fields: RowFields): StoredObject {
    const extrasJson = fields.extras ? this.extrasJson : undefined;
    return {
      id,
      className,
      creationTimeUnix: this.creationTimeUnix,
      lastUpdateTimeUnix: this.lastUpdateTimeUnix,
      propertiesJson: fields.properties ? this.propertiesJson : NO_PROPERTIES,
      vector: fields.vector ? this.vector() : undefined,
      extras: extrasJson === undefined ? undefined : (JSON.parse(utf8.decode(extrasJson)) as JsonObject),
    };
  }
}

const NO_PROPERTIES: Uint8Array = new TextEncoder().encode("{}");
const utf8 = new TextDecoder();

/** Vectors go to disk as the memory holds them; a big-endian machine would read others' files wrongly. */
if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) {
  throw new ShoalError("internal", "shards are written on little-endian machines only");
}

function tooLarge(bytes: number, { id, bytesMax }: RowBound): ShoalError {
  return new ShoalError(
    "tooLarge",
    `object '${id}' would take ${bytes} bytes with its vector, at most ${bytesMax} are allowed (OBJECT_BYTES_MAX)`,
  );
}

function byteLength(text: string | Uint8Array): number {
  return typeof text === "string" ? Buffer.byteLength(text) : text.byteLength;
}

function writeText(text: string | Uint8Array, target: Buffer, offset: number): void {
  if (typeof text === "string") target.write(text, offset);
  else target.set(text, offset);
}

/** Sequences and epochs stay below 2^53. */
function writeUint64(target: Buffer, value: number, offset: number): void {
  target.writeUInt32LE(value % 0x1_0000_0000, offset);
  target.writeUInt32LE(Math.floor(value / 0x1_0000_0000), offset + 4);
}

function readUint64(source: Buffer, offset: number): number {
  return source.readUInt32LE(offset) + source.readUInt32LE(offset + 4) * 0x1_0000_0000;
}
