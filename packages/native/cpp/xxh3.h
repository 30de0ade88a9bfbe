#pragma once
#include <node_api.h>

#include <cstddef>
#include <cstdint>

namespace shoal {

/** XXH3-64 with seed 0. */
uint64_t xxh3(const void* data, size_t length);

bool exportXxh3(napi_env env, napi_value exports);

}  // namespace shoal
