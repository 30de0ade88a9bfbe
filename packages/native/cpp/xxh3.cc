// XXH3-64 with seed 0, by the reference implementation (xxhash.h of Yann Collet, BSD-2-Clause).
#define XXH_INLINE_ALL
#include "xxh3.h"

#include <xxhash.h>

#include <cstring>

namespace shoal {
namespace {

// Up to here two parts are copied together, which costs less than setting up the 576 byte state of the streaming form.
constexpr size_t JOINED_BYTES_MAX = 8192;

}  // namespace

uint64_t xxh3Pair(const void* first, size_t firstLength, const void* second, size_t secondLength) {
  if (firstLength == 0) return XXH3_64bits(second, secondLength);
  const size_t total = firstLength + secondLength;
  if (total <= JOINED_BYTES_MAX) {
    static thread_local uint8_t joined[JOINED_BYTES_MAX];
    std::memcpy(joined, first, firstLength);
    if (secondLength != 0) std::memcpy(joined + firstLength, second, secondLength);
    return XXH3_64bits(joined, total);
  }
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, first, firstLength);
  XXH3_64bits_update(&state, second, secondLength);
  return XXH3_64bits_digest(&state);
}

}  // namespace shoal
