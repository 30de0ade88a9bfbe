// Rows as they stand in a file: records of one length, row n at n × the length. All numbers are little-endian.
//
// record = xxh3-64 u64 of the file's seed u64, the row's number u64 and the bytes that follow; document u32; zeros u32;
//          float32 × dimensions
//
// So a record that is damaged, of another file or of another row shows it by itself. Of a file that is written in several goes, a
// record from a go that never counted is found by the chain: a number that the hashes of all records make, one after the other.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shoal {

constexpr size_t RECORD_HEADER_BYTES = 16;

constexpr size_t rowRecordBytes(size_t dimensions) { return RECORD_HEADER_BYTES + dimensions * sizeof(float); }

/** Finishes a record whose vector stands behind the header already. Returns the chain that it leads to. */
uint64_t finishRecord(uint8_t* record, uint64_t seed, size_t row, uint32_t document, size_t dimensions, uint64_t chain);

/** Whether a record is the one of this row as it was written. Then `chain` becomes the one that it leads to. */
bool checkRecord(const uint8_t* record, uint64_t seed, size_t row, size_t dimensions, uint64_t& chain);

uint32_t documentOfRecord(const uint8_t* record);

}  // namespace shoal
