#pragma once
#include <node_api.h>

namespace shoal {

bool exportFloat32List(napi_env env, napi_value exports);

}  // namespace shoal
