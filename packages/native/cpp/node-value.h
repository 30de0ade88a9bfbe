// Reads arguments and makes results of Node-API calls. A wrong argument is a fault of our own callers, so it becomes a
// plain TypeError; user input is checked in TypeScript before it comes here.
#pragma once
#include <node_api.h>

#include <cstddef>
#include <cstdint>

namespace shoal {

struct Bytes {
  uint8_t* data = nullptr;
  size_t length = 0;
};

/** Throws a JavaScript TypeError and returns null, so that callbacks can `return fail(...)`. */
inline napi_value fail(napi_env env, const char* message) {
  napi_throw_type_error(env, nullptr, message);
  return nullptr;
}

/** The bytes of a typed array, with its offset into the buffer taken into account. */
inline bool readBytes(napi_env env, napi_value value, Bytes& out) {
  void* data = nullptr;
  size_t length = 0;
  // On a Uint8Array this is one call less deep than napi_get_typedarray_info; it takes any view and counts bytes.
  if (napi_get_buffer_info(env, value, &data, &length) != napi_ok) return false;
  out.data = static_cast<uint8_t*>(data);
  out.length = length;
  return true;
}

/** The elements of a typed array of exactly the named type. */
template <typename Element>
bool readElements(napi_env env, napi_value value, napi_typedarray_type wanted, Element*& data, size_t& count) {
  napi_typedarray_type type;
  void* bytes = nullptr;
  if (napi_get_typedarray_info(env, value, &type, &count, &bytes, nullptr, nullptr) != napi_ok) return false;
  data = static_cast<Element*>(bytes);
  return type == wanted;
}

inline bool setFunction(napi_env env, napi_value object, const char* name, napi_callback callback) {
  napi_value function;
  return napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function) == napi_ok &&
         napi_set_named_property(env, object, name, function) == napi_ok;
}

}  // namespace shoal
