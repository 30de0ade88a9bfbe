import { closeSync, fdatasyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { ShoalError } from "@shoal/model";

/**
 * A row file: equally long rows of bytes, read in part without reading the rest.
 *
 *     rows            row after row, nothing between
 *     block checksums one crc32 (uint32) for each started block of `rowsPerBlock` rows
 *     footer          "SHOALROW", format version, rows, row bytes, rows per block, crc32 of the block checksums and
 *                     of the footer before it (each uint32)
 *
 * All numbers are little-endian. A file is written under a temporary name, synced and renamed; what is read is checked
 * block by block, and the length of the file is checked against the footer when it is opened.
 */
const MAGIC = Buffer.from("SHOALROW", "latin1");
const FORMAT_VERSION = 1;
const FOOTER_BYTES = MAGIC.length + 5 * 4;
const BLOCK_BYTES = 1 << 20;

/** Appends one or more whole rows; the bytes may be changed again afterwards. */
export type AppendRows = (rows: Uint8Array) => void;

/**
 * Writes a row file; it appears under `path` complete or, when `fill` throws, not at all. Synchronous, like the parsers
 * that feed it: converting a set is the only thing a process does meanwhile.
 */
export function writeRowFile(path: string, rowBytes: number, fill: (append: AppendRows) => void): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.${process.hrtime.bigint().toString(36)}.tmp`;
  const descriptor = openSync(temporary, "wx");
  try {
    try {
      const blocks = new BlockWriter(descriptor, rowBytes);
      fill((rows) => blocks.append(rows));
      blocks.finish();
      fdatasyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (thrown) {
    rmSync(temporary, { force: true });
    throw thrown;
  }
}

class BlockWriter {
  readonly #descriptor: number;
  readonly #rowBytes: number;
  readonly #rowsPerBlock: number;
  readonly #block: Buffer;
  readonly #checksums: number[] = [];
  #used = 0;
  #rows = 0;

  constructor(descriptor: number, rowBytes: number) {
    this.#descriptor = descriptor;
    this.#rowBytes = rowBytes;
    this.#rowsPerBlock = Math.max(1, Math.floor(BLOCK_BYTES / rowBytes));
    this.#block = Buffer.allocUnsafe(this.#rowsPerBlock * rowBytes);
  }

  append(rows: Uint8Array): void {
    if (rows.length % this.#rowBytes !== 0) {
      throw new ShoalError("invalid", `${rows.length} bytes are no whole number of rows of ${this.#rowBytes} bytes`);
    }
    for (let at = 0; at < rows.length; ) {
      const part = rows.subarray(at, at + this.#block.length - this.#used);
      this.#block.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
      if (this.#used === this.#block.length) this.#flush();
    }
    this.#rows += rows.length / this.#rowBytes;
  }

  finish(): void {
    if (this.#used > 0) this.#flush();
    const tail = Buffer.alloc(this.#checksums.length * 4 + FOOTER_BYTES);
    this.#checksums.forEach((checksum, block) => {
      tail.writeUInt32LE(checksum, block * 4);
    });
    const footer = this.#checksums.length * 4;
    MAGIC.copy(tail, footer);
    [FORMAT_VERSION, this.#rows, this.#rowBytes, this.#rowsPerBlock].forEach((value, index) => {
      tail.writeUInt32LE(value, footer + MAGIC.length + index * 4);
    });
    tail.writeUInt32LE(crc32(tail.subarray(0, tail.length - 4)), tail.length - 4);
    writeAll(this.#descriptor, tail);
  }

  #flush(): void {
    const bytes = this.#block.subarray(0, this.#used);
    this.#checksums.push(crc32(bytes));
    writeAll(this.#descriptor, bytes);
    this.#used = 0;
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

/** Errors: `notFound` when there is no such file, `dataLoss` when length or a checksum that is read does not fit. */
export class RowFile implements AsyncDisposable {
  private constructor(
    readonly path: string,
    private readonly file: FileHandle,
    readonly rows: number,
    readonly rowBytes: number,
    private readonly rowsPerBlock: number,
    private readonly checksums: Buffer,
  ) {}

  static async open(path: string, rowBytes: number): Promise<RowFile> {
    const file = await open(path, "r").catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT") throw new ShoalError("notFound", `there is no file ${path}`, { cause });
      throw cause;
    });
    try {
      return await RowFile.#readFooter(path, file, rowBytes);
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
  }

  static async #readFooter(path: string, file: FileHandle, rowBytes: number): Promise<RowFile> {
    const { size } = await file.stat();
    if (size < FOOTER_BYTES) throw new ShoalError("dataLoss", `${path} is cut off: ${size} bytes`);
    const footer = await readExactly(path, file, size - FOOTER_BYTES, FOOTER_BYTES);
    const number = (index: number) => footer.readUInt32LE(MAGIC.length + index * 4);
    if (!footer.subarray(0, MAGIC.length).equals(MAGIC)) throw new ShoalError("dataLoss", `${path} is no row file`);
    if (number(0) !== FORMAT_VERSION) throw new ShoalError("dataLoss", `${path} has format version ${number(0)}`);
    const rows = number(1);
    const rowsPerBlock = number(3);
    if (number(2) !== rowBytes || rowsPerBlock < 1) {
      throw new ShoalError("dataLoss", `${path} has rows of ${number(2)} bytes, not of ${rowBytes}`);
    }
    const checksumBytes = Math.ceil(rows / rowsPerBlock) * 4;
    const expected = rows * rowBytes + checksumBytes + FOOTER_BYTES;
    if (size !== expected) throw new ShoalError("dataLoss", `${path} has ${size} bytes, not ${expected}`);
    const checksums = await readExactly(path, file, rows * rowBytes, checksumBytes);
    if (crc32(footer.subarray(0, FOOTER_BYTES - 4), crc32(checksums)) !== number(4)) {
      throw new ShoalError("dataLoss", `${path}: the checksum of the footer does not fit`);
    }
    return new RowFile(path, file, rows, rowBytes, rowsPerBlock, checksums);
  }

  /** Rows `from` to `from + count` (exclusive) as `count × rowBytes` bytes; only the blocks they lie in are read. */
  async read(from: number, count: number): Promise<Uint8Array> {
    if (!Number.isInteger(from) || !Number.isInteger(count) || from < 0 || count < 0 || from + count > this.rows) {
      throw new ShoalError("invalid", `rows ${from} to ${from + count} asked, ${this.path} has ${this.rows}`);
    }
    const into = new Uint8Array(count * this.rowBytes);
    for (let row = from; row < from + count; ) {
      const block = Math.floor(row / this.rowsPerBlock);
      const first = block * this.rowsPerBlock;
      const end = Math.min(first + this.rowsPerBlock, this.rows);
      const bytes = await this.#readBlock(block, first, end);
      const last = Math.min(end, from + count);
      into.set(
        bytes.subarray((row - first) * this.rowBytes, (last - first) * this.rowBytes),
        (row - from) * this.rowBytes,
      );
      row = last;
    }
    return into;
  }

  async #readBlock(block: number, first: number, end: number): Promise<Buffer> {
    const bytes = await readExactly(this.path, this.file, first * this.rowBytes, (end - first) * this.rowBytes);
    if (crc32(bytes) !== this.checksums.readUInt32LE(block * 4)) {
      throw new ShoalError("dataLoss", `${this.path}: the checksum of rows ${first} to ${end} does not fit`);
    }
    return bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.file.close();
  }
}

async function readExactly(path: string, file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, length - at, position + at);
    if (bytesRead === 0) throw new ShoalError("dataLoss", `${path} is cut off`);
    at += bytesRead;
  }
  return bytes;
}
