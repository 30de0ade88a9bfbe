// xxh3 for the stress program, without its Node-API side.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../cpp/xxh3.h"

namespace shoal {

uint64_t xxh3Pair(const void* first, size_t firstLength, const void* second, size_t secondLength) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, first, firstLength);
  XXH3_64bits_update(&state, second, secondLength);
  return XXH3_64bits_digest(&state);
}

}  // namespace shoal
