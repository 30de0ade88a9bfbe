#pragma once
#include <node_api.h>

namespace shoal {

bool exportFreeMemory(napi_env env, napi_value exports);

}  // namespace shoal
