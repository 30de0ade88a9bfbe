// Makes the binaries that package `rocksdb` ships for Linux run on every Node: node bind-rocksdb.mjs [folder of rocksdb]
//
// They are from 2020 and hold templates of the C++ library in its old string layout, std::regex among them. Official
// Nodes from 22 on export templates of the same names in the new layout. The dynamic linker takes those, and the process
// aborts in `require("rocksdb")` with std::bad_alloc. So the binary is marked DT_SYMBOLIC, as if linked with -Bsymbolic:
// what it defines itself it takes from itself. What it does not define (malloc, fdatasync) is looked up as before.
// One binary then serves all versions of Node. A second run changes nothing.
import { readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// Names and offsets are those of elf.h, for 64-bit little-endian files.
const ELF_HEADER = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
const PROGRAM_HEADERS_OFFSET_AT = 32;
const PROGRAM_HEADER_BYTES_AT = 54;
const PROGRAM_HEADER_COUNT_AT = 56;
const PT_DYNAMIC = 2;
const OFFSET_AT = 8;
const FILE_BYTES_AT = 32;
const DYNAMIC_ENTRY_BYTES = 16;
const DT_NULL = 0n;
const DT_SYMBOLIC = 16n;

/** Marks a shared object DT_SYMBOLIC. The file is replaced, not written to: pnpm's store may hold it by a hard link. */
function bindToItself(path) {
  const file = readFileSync(path);
  const entries = file.subarray(0, ELF_HEADER.length).equals(ELF_HEADER) ? dynamicEntries(file) : [];
  const end = entries.findIndex((at) => file.readBigUInt64LE(at) === DT_NULL);
  if (entries.slice(0, end).some((at) => file.readBigUInt64LE(at) === DT_SYMBOLIC)) return;
  // Linkers leave some empty entries behind the one that ends the section.
  if (end === -1 || entries[end + 1] === undefined) {
    throw new Error(`${path} is no shared object of 64 bits with room for an entry in its dynamic section`);
  }
  file.writeBigUInt64LE(DT_SYMBOLIC, entries[end]);
  const replacement = `${path}.${process.pid}`;
  try {
    writeFileSync(replacement, file, { mode: 0o755 });
    renameSync(replacement, path);
  } finally {
    rmSync(replacement, { force: true });
  }
}

/** Where the entries of the dynamic section stand in the file. */
function dynamicEntries(file) {
  const headers = Number(file.readBigUInt64LE(PROGRAM_HEADERS_OFFSET_AT));
  const headerBytes = file.readUInt16LE(PROGRAM_HEADER_BYTES_AT);
  const count = file.readUInt16LE(PROGRAM_HEADER_COUNT_AT);
  const header = Array.from({ length: count }, (_, i) => headers + i * headerBytes).find(
    (at) => file.readUInt32LE(at) === PT_DYNAMIC,
  );
  if (header === undefined) return [];
  const first = Number(file.readBigUInt64LE(header + OFFSET_AT));
  const bytes = Number(file.readBigUInt64LE(header + FILE_BYTES_AT));
  return Array.from({ length: bytes / DYNAMIC_ENTRY_BYTES }, (_, i) => first + i * DYNAMIC_ENTRY_BYTES);
}

const [folder = dirname(createRequire(import.meta.url).resolve("rocksdb/package.json"))] = process.argv.slice(2);
const prebuilds = join(realpathSync(folder), "prebuilds");
for (const platform of readdirSync(prebuilds).filter((name) => name.startsWith("linux-"))) {
  for (const name of readdirSync(join(prebuilds, platform))) bindToItself(join(prebuilds, platform, name));
}
