import { type FileHandle, open, readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { KnownTable } from "../manifest-file.js";
import { type IndexedBlock, TRAILER_BYTES, unpackBlock } from "../table-block.js";
import { blockIsWhole, readFrame } from "../table-file.js";
import { blockVersions, versionsInDamaged } from "./block-versions.js";
import type { FileDamage, FoundVersion } from "./found-version.js";

const WINDOW_BYTES = 1 << 20;
const INTERNAL_KEY_BYTES = 8;

type OnDamage = (damage: FileDamage) => void;

/**
 * All versions of a table that can be read, damaged blocks and a missing index notwithstanding. `known`: what the MANIFEST
 * says of it. Reads a table without an index into memory, others block by block.
 */
export async function* readTableVersions(
  path: string,
  known: KnownTable | undefined,
  onDamage: OnDamage,
): AsyncGenerator<readonly FoundVersion[]> {
  const file = basename(path);
  const sequenceMax = known?.largestSequence ?? Number.POSITIVE_INFINITY;
  const handle = await open(path, "r");
  try {
    const frame = await readFrame(handle);
    if (frame === undefined || frame.blocks.length === 0) {
      const reason = frame === undefined ? "has no readable end" : "has no readable index";
      const { smallest: lower, largest: upper } = known ?? { smallest: undefined, largest: undefined };
      onDamage({ file, offset: undefined, reason, lower, upper, sequenceMax });
      yield versionsWithoutIndex(await readFile(path));
      return;
    }
    const nothingLost = { lower: NO_KEY, upper: NO_KEY, sequenceMax: -1 };
    const harmed = frame.deadly ?? (frame.isOpened ? undefined : "filter");
    if (harmed !== undefined) onDamage({ file, offset: undefined, reason: `has a damaged ${harmed}`, ...nothingLost });
    yield* readIndexed(handle, file, frame.blocks, sequenceMax, onDamage);
  } finally {
    await handle.close();
  }
}

/** Before every key that is not empty. */
const NO_KEY = new Uint8Array(0);

async function* readIndexed(
  handle: FileHandle,
  file: string,
  blocks: readonly IndexedBlock[],
  sequenceMax: number,
  onDamage: OnDamage,
): AsyncGenerator<readonly FoundVersion[]> {
  let window = Buffer.alloc(0);
  let windowAt = 0;
  let versions: FoundVersion[] = [];
  for (const [index, block] of blocks.entries()) {
    const bytes = block.size + TRAILER_BYTES;
    if (block.offset < windowAt || block.offset + bytes > windowAt + window.length) {
      if (versions.length > 0) yield versions;
      versions = [];
      // New memory each time: the versions are views on it.
      const buffer = Buffer.allocUnsafe(Math.max(WINDOW_BYTES, bytes));
      window = buffer.subarray(0, (await handle.read(buffer, 0, buffer.length, block.offset)).bytesRead);
      windowAt = block.offset;
    }
    const stored = window.subarray(block.offset - windowAt, block.offset - windowAt + bytes);
    const isWhole = blockIsWhole(stored, 0, block.size);
    const plain = unpackBlock(stored) ?? stored;
    const whole = isWhole ? blockVersions(plain) : undefined;
    if (whole === undefined) {
      const before = blocks[index - 1]?.key;
      const lower = before?.subarray(0, Math.max(0, before.length - INTERNAL_KEY_BYTES));
      onDamage({ file, offset: block.offset, reason: "has a damaged block", lower, upper: block.key, sequenceMax });
    }
    for (const version of whole ?? versionsInDamaged(plain)) versions.push(version);
  }
  if (versions.length > 0) yield versions;
}

/**
 * The blocks are found by their checksums, one after the other from the begin of the file; behind the first that does not
 * fit, values are found by their own.
 */
function versionsWithoutIndex(table: Uint8Array): FoundVersion[] {
  const versions: FoundVersion[] = [];
  let at = 0;
  for (;;) {
    const end = endOfBlock(table, at);
    const block = end === undefined ? undefined : unpackBlock(table.subarray(at, end));
    const found = block && blockVersions(block);
    // The blocks behind the last one with data hold other things.
    if (end === undefined || found === undefined) break;
    for (const version of found) versions.push(version);
    at = end;
  }
  for (const version of versionsInDamaged(table.subarray(at))) versions.push(version);
  return versions;
}

/** Behind the trailer of the block that begins at `from`: where the checksum so far stands in the file. */
function endOfBlock(table: Uint8Array, from: number): number | undefined {
  const view = new DataView(table.buffer, table.byteOffset, table.length);
  let crc = 0xffff_ffff;
  for (let at = from; at + 5 <= table.length; at++) {
    crc = (CRC32C_TABLE[(crc ^ (table[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
    const plain = ~crc >>> 0;
    const masked = (((plain >>> 15) | (plain << 17)) + 0xa282ead8) >>> 0;
    if (masked === view.getUint32(at + 1, true)) return at + 5;
  }
  return undefined;
}

const CRC32C_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f6_3b78 : crc >>> 1;
  return crc;
});
