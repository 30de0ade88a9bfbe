#pragma once
#include <node_api.h>

namespace shoal {

bool exportNearestRows(napi_env env, napi_value exports);

}  // namespace shoal
