#pragma once
#include <node_api.h>

namespace shoal {

bool exportSimd(napi_env env, napi_value exports);

}  // namespace shoal
