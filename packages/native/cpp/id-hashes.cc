// MurmurHash3's 32 bit mixing (Austin Appleby, public domain) of many ids at once. One at a time JavaScript has it in packages/shard,
// but a start hashes all ids of a table, before V8 has compiled anything.
#include <cstdint>

#include "addon-exports.h"
#include "node-arguments.h"

namespace shoal {
namespace {

constexpr size_t WORDS = 4;

uint32_t rotated(uint32_t value, int by) { return value << by | value >> (32 - by); }

uint32_t mixed(uint32_t state, uint32_t word) {
  const uint32_t other = state ^ rotated(word * 0xcc9e2d51u, 15) * 0x1b873593u;
  return rotated(other, 13) * 5 + 0xe6546b64u;
}

uint32_t finished(uint32_t state) {
  state = (state ^ state >> 16) * 0x85ebca6bu;
  state = (state ^ state >> 13) * 0xc2b2ae35u;
  return state ^ state >> 16;
}

napi_value hashIds(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  size_t count, wordCount;
  const uint32_t* words = arguments.elements<uint32_t>(napi_uint32_array, wordCount);
  const uint32_t seed = arguments.unsigned32();
  const uint32_t length = arguments.unsigned32();
  uint32_t* hashes = arguments.elements<uint32_t>(napi_uint32_array, count);
  if (!arguments.ok || wordCount / WORDS < count)
    return fail(env, "hashIds(words, seed, length, hashes) needs two Uint32Array, and four words for each hash");
  for (size_t id = 0; id < count; id++, words += WORDS) {
    uint32_t state = seed;
    for (size_t word = 0; word < WORDS; word++) state = mixed(state, words[word]);
    hashes[id] = finished(state ^ length);
  }
  return nullptr;
}

}  // namespace

bool exportIdHashes(napi_env env, napi_value exports) { return setFunction(env, exports, "hashIds", hashIds); }

}  // namespace shoal
