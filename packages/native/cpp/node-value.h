// Reads arguments and makes results of Node-API calls. A wrong argument is a fault of our own callers, so it becomes a
// plain TypeError; user input is checked in TypeScript before it comes here. No
// argument whatever may harm the process: each is checked before it is used.
//
// Every status of Node-API is looked at: those of reading an argument say whether it fits, all others go through `done`.
#pragma once
#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace shoal {

struct Bytes {
  uint8_t* data = nullptr;
  size_t length = 0;
};

/**
 * Whether a call of Node-API was done. If not, an Error of JavaScript's is thrown that says why, unless another one is already; only when
 * the environment is being taken down is there nobody to be told.
 */
[[nodiscard]] inline bool done(napi_env env, napi_status status) {
  if (status == napi_ok) return true;
  const napi_extended_error_info* info = nullptr;
  const char* message = "a call of Node-API failed";
  if (napi_get_last_error_info(env, &info) == napi_ok && info->error_message != nullptr) message = info->error_message;
  bool thrown = false;
  if (napi_is_exception_pending(env, &thrown) == napi_ok && !thrown)
    static_cast<void>(napi_throw_error(env, nullptr, message));
  return false;
}

/** Throws a JavaScript TypeError and returns null, so that callbacks can `return fail(...)`. */
inline napi_value fail(napi_env env, const char* message) {
  static_cast<void>(done(env, napi_throw_type_error(env, nullptr, message)));
  return nullptr;
}

/** The bytes of a typed array, with its offset into the buffer taken into account. */
inline bool readBytes(napi_env env, napi_value value, Bytes& out) {
  void* data = nullptr;
  size_t length = 0;
  bool isView = false;
  // The next call ends the process on a value that is no view.
  if (napi_is_buffer(env, value, &isView) != napi_ok || !isView) return false;
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

/** A whole number from 0 to 2^32 - 1, as it is: Node-API makes one of -1, 2^32 and NaN, too. */
inline bool readUnsigned32(napi_env env, napi_value value, uint32_t& out) {
  double number = 0;
  if (napi_get_value_double(env, value, &number) != napi_ok || !(number >= 0 && number <= 4294967295.0)) return false;
  out = static_cast<uint32_t>(number);
  return static_cast<double>(out) == number;
}

/** As `readUnsigned32`, from -2^31 to 2^31 - 1. */
inline bool readSigned32(napi_env env, napi_value value, int32_t& out) {
  double number = 0;
  if (napi_get_value_double(env, value, &number) != napi_ok || !(number >= -2147483648.0 && number <= 2147483647.0))
    return false;
  out = static_cast<int32_t>(number);
  return static_cast<double>(out) == number;
}

inline napi_value makeBoolean(napi_env env, bool value) {
  napi_value made = nullptr;
  return done(env, napi_get_boolean(env, value, &made)) ? made : nullptr;
}

inline napi_value makeNumber(napi_env env, int64_t value) {
  napi_value made = nullptr;
  return done(env, napi_create_int64(env, value, &made)) ? made : nullptr;
}

inline napi_value makeText(napi_env env, const std::string& text) {
  napi_value made = nullptr;
  return done(env, napi_create_string_utf8(env, text.data(), text.size(), &made)) ? made : nullptr;
}

/** A typed array with a copy of the elements. */
template <typename Element>
napi_value makeElements(napi_env env, napi_typedarray_type type, const Element* elements, size_t count) {
  void* bytes = nullptr;
  napi_value buffer = nullptr, made = nullptr;
  if (!done(env, napi_create_arraybuffer(env, count * sizeof(Element), &bytes, &buffer))) return nullptr;
  if (count > 0) std::memcpy(bytes, elements, count * sizeof(Element));
  return done(env, napi_create_typedarray(env, type, count, buffer, 0, &made)) ? made : nullptr;
}

/** A handle for `data`, which belongs to it from then on. The tag tells it from handles of other types and addons. */
inline napi_value makeHandle(napi_env env, void* data, napi_finalize finalize, const napi_type_tag& tag) {
  napi_value handle = nullptr;
  if (!done(env, napi_create_external(env, data, finalize, nullptr, &handle))) {
    finalize(env, data, nullptr);
    return nullptr;
  }
  return done(env, napi_type_tag_object(env, handle, &tag)) ? handle : nullptr;
}

/** What a handle of `makeHandle` with this tag holds; null for every other value. */
inline void* readHandle(napi_env env, napi_value value, const napi_type_tag& tag) {
  napi_valuetype type = napi_undefined;
  bool isOurs = false;
  void* data = nullptr;
  if (napi_typeof(env, value, &type) != napi_ok || type != napi_external) return nullptr;
  if (napi_check_object_type_tag(env, value, &tag, &isOurs) != napi_ok || !isOurs) return nullptr;
  return napi_get_value_external(env, value, &data) == napi_ok ? data : nullptr;
}

inline bool setFunction(napi_env env, napi_value object, const char* name, napi_callback callback) {
  napi_value function = nullptr;
  return done(env, napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function)) &&
         done(env, napi_set_named_property(env, object, name, function));
}

}  // namespace shoal
