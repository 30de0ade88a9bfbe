// The arguments of a call from JavaScript.
#pragma once
#include <cassert>

#include "node-value.h"

namespace shoal {

/** Reads up to eight arguments, one after the other; `ok` turns false at the first that is not there or does not fit. */
class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info) : env_(env) {
    ok = napi_get_cb_info(env, info, &count_, values_, nullptr, nullptr) == napi_ok;
  }

  /** What a handle with this tag holds. */
  template <typename Held>
  Held* handle(const napi_type_tag& tag) {
    void* data = ok ? readHandle(env_, next(), tag) : nullptr;
    ok = data != nullptr;
    return static_cast<Held*>(data);
  }
  uint32_t unsigned32() {
    uint32_t value = 0;
    ok = ok && readUnsigned32(env_, next(), value);
    return value;
  }
  int32_t signed32() {
    int32_t value = 0;
    ok = ok && readSigned32(env_, next(), value);
    return value;
  }
  /** Of any view. */
  Bytes bytes() {
    Bytes bytes;
    ok = ok && readBytes(env_, next(), bytes);
    return bytes;
  }
  template <typename Element>
  Element* elements(napi_typedarray_type type, size_t& count) {
    Element* data = nullptr;
    ok = ok && readElements(env_, next(), type, data, count);
    return data;
  }
  bool absent() { return type() == napi_undefined; }
  bool isNumber() { return type() == napi_number; }
  bool isFunction() { return type() == napi_function; }
  /** The next one, as it is. */
  napi_value peek() const { return values_[at_]; }
  bool ok;

 private:
  static constexpr size_t MOST = 8;

  napi_value next() {
    assert(at_ < MOST);
    return values_[at_++];
  }
  /** Of the next one. */
  napi_valuetype type() {
    napi_valuetype type = napi_undefined;
    ok = ok && napi_typeof(env_, values_[at_], &type) == napi_ok;
    return type;
  }

  napi_env env_;
  size_t count_ = MOST;
  size_t at_ = 0;
  napi_value values_[MOST];
};

}  // namespace shoal
