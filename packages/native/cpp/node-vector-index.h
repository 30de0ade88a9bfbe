#pragma once
#include <node_api.h>

namespace shoal {

bool exportVectorIndex(napi_env env, napi_value exports);

}  // namespace shoal
