// What JavaScript sees of the addon, by the file that makes it. Whoever returns false has thrown an error.
#pragma once
#include <node_api.h>

namespace shoal {

bool exportCrc32c(napi_env env, napi_value exports);
bool exportDuplicateDescriptor(napi_env env, napi_value exports);
bool exportFloat32List(napi_env env, napi_value exports);
bool exportFreeMemory(napi_env env, napi_value exports);
bool exportIdHashes(napi_env env, napi_value exports);
bool exportNearestRows(napi_env env, napi_value exports);
bool exportSimd(napi_env env, napi_value exports);
bool exportVectorIndex(napi_env env, napi_value exports);
bool exportXxh3(napi_env env, napi_value exports);

}  // namespace shoal
