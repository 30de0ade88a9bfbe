// XXH3-64 of a key and a payload, and of bytes in pieces, as JavaScript sees it.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "addon-exports.h"
#include "node-arguments.h"
#include "xxh3.h"

namespace shoal {
namespace {

void writeLittleEndian(uint64_t hash, uint8_t* target) {
  for (int byte = 0; byte < 8; byte++) target[byte] = static_cast<uint8_t>(hash >> (8 * byte));
}

uint64_t hashPair(const Bytes& key, const Bytes& payload) {
  return xxh3Pair(key.data, key.length, payload.data, payload.length);
}

/** Reads (key, payload, bytes, offset) and makes sure that eight bytes fit at the offset. */
bool readPair(napi_env env, napi_callback_info info, Bytes& key, Bytes& payload, uint8_t*& place) {
  Arguments arguments(env, info);
  key = arguments.bytes();
  payload = arguments.bytes();
  const Bytes target = arguments.bytes();
  const uint32_t offset = arguments.unsigned32();
  if (!arguments.ok || target.length < 8 || offset > target.length - 8) return false;
  place = target.data + offset;
  return true;
}

napi_value xxh3Write(napi_env env, napi_callback_info info) {
  Bytes key, payload;
  uint8_t* place;
  if (!readPair(env, info, key, payload, place))
    return fail(env, "xxh3Write(key, payload, target, offset) needs three Uint8Array and room for 8 bytes at offset");
  writeLittleEndian(hashPair(key, payload), place);
  return nullptr;
}

napi_value xxh3Matches(napi_env env, napi_callback_info info) {
  Bytes key, payload;
  uint8_t* place;
  if (!readPair(env, info, key, payload, place))
    return fail(env, "xxh3Matches(key, payload, expected, offset) needs three Uint8Array and 8 bytes at offset");
  uint8_t actual[8];
  writeLittleEndian(hashPair(key, payload), actual);
  return makeBoolean(env, std::memcmp(actual, place, 8) == 0);
}

constexpr napi_type_tag STATE_TAG = {0x94c2e07b3fa6458d, 0x8b17d63e50c9f2a4};

napi_value xxh3Begin(napi_env env, napi_callback_info) {
  XXH3_state_t* state = XXH3_createState();
  if (state == nullptr) return fail(env, "no memory for a hash state");
  XXH3_64bits_reset(state);
  return makeHandle(
      env, state, [](napi_env, void* data, void*) { XXH3_freeState(static_cast<XXH3_state_t*>(data)); }, STATE_TAG);
}

napi_value xxh3Update(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  XXH3_state_t* state = arguments.handle<XXH3_state_t>(STATE_TAG);
  const Bytes bytes = arguments.bytes();
  if (!arguments.ok) return fail(env, "update(bytes) needs a Uint8Array");
  if (bytes.length != 0) XXH3_64bits_update(state, bytes.data, bytes.length);
  return nullptr;
}

napi_value xxh3Digest(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  XXH3_state_t* state = arguments.handle<XXH3_state_t>(STATE_TAG);
  const Bytes target = arguments.bytes();
  const uint32_t offset = arguments.unsigned32();
  if (!arguments.ok || target.length < 8 || offset > target.length - 8)
    return fail(env, "digest(target, offset) needs a Uint8Array with room for 8 bytes at offset");
  writeLittleEndian(XXH3_64bits_digest(state), target.data + offset);
  return nullptr;
}

}  // namespace

bool exportXxh3(napi_env env, napi_value exports) {
  return setFunction(env, exports, "xxh3Write", xxh3Write) && setFunction(env, exports, "xxh3Matches", xxh3Matches) &&
         setFunction(env, exports, "xxh3Begin", xxh3Begin) && setFunction(env, exports, "xxh3Update", xxh3Update) &&
         setFunction(env, exports, "xxh3Digest", xxh3Digest);
}

}  // namespace shoal
