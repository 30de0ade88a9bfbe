#pragma once
#include <cstddef>
#include <cstdint>

namespace shoal {

/** XXH3-64 with seed 0 of two parts, one after the other. */
uint64_t xxh3Pair(const void* first, size_t firstLength, const void* second, size_t secondLength);

}  // namespace shoal
