// The arguments of a call from JavaScript to a vector index.
#pragma once
#include <memory>

#include "node-value.h"
#include "vector-index.h"

namespace shoal {

/** What JavaScript holds of an index. */
using Handle = std::shared_ptr<VectorIndex>;

/** Reads the arguments of a call one after the other; `ok` turns false at the first that does not fit. */
class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info) : env_(env) {
    ok = napi_get_cb_info(env, info, &count_, values_, nullptr, nullptr) == napi_ok;
  }

  Handle* index() {
    void* data = nullptr;
    ok = ok && napi_get_value_external(env_, next(), &data) == napi_ok;
    return static_cast<Handle*>(data);
  }
  uint32_t unsigned32() {
    uint32_t value = 0;
    ok = ok && napi_get_value_uint32(env_, next(), &value) == napi_ok;
    return value;
  }
  int32_t signed32() {
    int32_t value = 0;
    ok = ok && napi_get_value_int32(env_, next(), &value) == napi_ok;
    return value;
  }
  template <typename Element>
  Element* elements(napi_typedarray_type type, size_t& count) {
    Element* data = nullptr;
    ok = ok && readElements(env_, next(), type, data, count);
    return data;
  }
  bool absent() {
    napi_valuetype type = napi_undefined;
    ok = ok && napi_typeof(env_, values_[at_], &type) == napi_ok;
    return type == napi_undefined;
  }
  bool ok;

 private:
  napi_value next() { return values_[at_++]; }

  napi_env env_;
  size_t count_ = 8;
  size_t at_ = 0;
  napi_value values_[8];
};

}  // namespace shoal
