#include "row-records.h"

#include <cstring>

#include "xxh3.h"

namespace shoal {
namespace {

constexpr size_t HASH_BYTES = sizeof(uint64_t);

uint64_t hashOf(const uint8_t* record, uint64_t seed, size_t row, size_t dimensions) {
  const uint64_t place[2] = {seed, row};
  return xxh3Pair(place, sizeof(place), record + HASH_BYTES, rowRecordBytes(dimensions) - HASH_BYTES);
}

uint64_t lengthen(uint64_t chain, uint64_t hash) { return ((chain << 5 | chain >> 59) ^ hash) * 0x9E3779B97F4A7C15u; }

}  // namespace

uint64_t finishRecord(uint8_t* record, uint64_t seed, size_t row, uint32_t document, size_t dimensions,
                      uint64_t chain) {
  const uint32_t numbers[2] = {document, 0};
  std::memcpy(record + HASH_BYTES, numbers, sizeof(numbers));
  const uint64_t hash = hashOf(record, seed, row, dimensions);
  std::memcpy(record, &hash, HASH_BYTES);
  return lengthen(chain, hash);
}

bool checkRecord(const uint8_t* record, uint64_t seed, size_t row, size_t dimensions, uint64_t& chain) {
  uint64_t hash;
  std::memcpy(&hash, record, HASH_BYTES);
  if (hash != hashOf(record, seed, row, dimensions)) return false;
  chain = lengthen(chain, hash);
  return true;
}

uint32_t documentOfRecord(const uint8_t* record) {
  uint32_t document;
  std::memcpy(&document, record + HASH_BYTES, sizeof(document));
  return document;
}

}  // namespace shoal
