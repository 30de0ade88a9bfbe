import { readFile } from "node:fs/promises";
import { writeDurableFile } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { XXH3_BYTES, Xxh3Hasher } from "@shoal/native";
import { DOCUMENT_BYTES } from "./document-chunks.js";
import type { IdTableImage } from "./id-table.js";

/*
 * The file, little-endian:
 *  0  8 bytes "SHOALIDS"
 *  8  u32     file version (1)
 * 12  u32     documents: every document id is below it
 * 16  u64     sequence that the table has reached
 * 24  u32     newest document (0xfffffffe: none)
 * 28  u32     oldest document
 * 32  u64     0
 * 40  columns over all document ids: uuids (16 bytes each), creation times (f64), link to the next newer document
 *     (u32), link to the next older one (u32; 0xffffffff: there is no such document)
 *  … 8 bytes  xxh3-64 of everything before
 */
const MAGIC = Buffer.from("SHOALIDS", "latin1");
const FILE_VERSION = 1;
const HEADER_BYTES = 40;

export interface IdTableSnapshot {
  readonly image: IdTableImage;
  readonly sequence: number;
}

/** Writes the snapshot so that `path` holds either the old file or the whole new one, also after a power cut. */
export async function writeIdTableSnapshot(path: string, snapshot: IdTableSnapshot): Promise<void> {
  const { image, sequence } = snapshot;
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(FILE_VERSION, 8);
  header.writeUInt32LE(image.documentLimit, 12);
  header.writeBigUInt64LE(BigInt(sequence), 16);
  header.writeUInt32LE(image.newest, 24);
  header.writeUInt32LE(image.oldest, 28);
  const hash = new Xxh3Hasher().update(header).update(image.columns).digest();
  await writeDurableFile(path, [header, image.columns, hash]);
}

/** Undefined when there is no file. Fails with `dataLoss` when it cannot be used: it is rebuilt then, never trusted. */
export async function readIdTableSnapshot(path: string): Promise<IdTableSnapshot | undefined> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new ShoalError("dataLoss", `${path} cannot be read: ${error.message}`, { cause: error });
  });
  if (bytes === undefined) return undefined;
  const hashAt = bytes.length - XXH3_BYTES;
  if (hashAt < HEADER_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new ShoalError("dataLoss", `${path} is no snapshot of an id table`);
  }
  const documentLimit = bytes.readUInt32LE(12);
  if (hashAt !== HEADER_BYTES + documentLimit * DOCUMENT_BYTES) {
    throw new ShoalError("dataLoss", `${path} has ${bytes.length} bytes, which is not its length`);
  }
  const body = bytes.subarray(0, hashAt);
  if (!bytes.subarray(hashAt).equals(new Xxh3Hasher().update(body).digest())) {
    throw new ShoalError("dataLoss", `${path} does not match its checksum`);
  }
  if (bytes.readUInt32LE(8) !== FILE_VERSION) {
    throw new ShoalError(
      "dataLoss",
      `${path} has version ${bytes.readUInt32LE(8)}; this release reads ${FILE_VERSION}`,
    );
  }
  return {
    sequence: Number(bytes.readBigUInt64LE(16)),
    image: {
      documentLimit,
      newest: bytes.readUInt32LE(24),
      oldest: bytes.readUInt32LE(28),
      columns: bytes.subarray(HEADER_BYTES, hashAt),
    },
  };
}
