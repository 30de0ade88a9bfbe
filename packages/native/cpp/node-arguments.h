// The arguments of a call from JavaScript to a vector index.
#pragma once
#include <memory>

#include "node-value.h"
#include "vector-index.h"

namespace shoal {

/** What JavaScript holds of an index. */
using Handle = std::shared_ptr<VectorIndex>;

constexpr napi_type_tag INDEX_TAG = {0x6d1f0a7c25e94b83, 0xa3508e2fd1b7469c};

/** Reads the arguments of a call one after the other; `ok` turns false at the first that does not fit. */
class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info) : env_(env) {
    ok = napi_get_cb_info(env, info, &count_, values_, nullptr, nullptr) == napi_ok;
  }

  Handle* index() {
    void* data = ok ? readHandle(env_, next(), INDEX_TAG) : nullptr;
    ok = data != nullptr;
    return static_cast<Handle*>(data);
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
  template <typename Element>
  Element* elements(napi_typedarray_type type, size_t& count) {
    Element* data = nullptr;
    ok = ok && readElements(env_, next(), type, data, count);
    return data;
  }
  bool absent() { return type() == napi_undefined; }
  bool isNumber() { return type() == napi_number; }
  bool ok;

 private:
  napi_value next() { return values_[at_++]; }
  /** Of the next one. */
  napi_valuetype type() {
    napi_valuetype type = napi_undefined;
    ok = ok && napi_typeof(env_, values_[at_], &type) == napi_ok;
    return type;
  }

  napi_env env_;
  size_t count_ = 8;
  size_t at_ = 0;
  napi_value values_[8];
};

}  // namespace shoal
