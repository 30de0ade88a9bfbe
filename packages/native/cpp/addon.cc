// The door of the addon: what JavaScript sees is listed here, and typed in src/.
#include <node_api.h>

#include "crc32c.h"
#include "duplicate-descriptor.h"
#include "float32-list.h"
#include "free-memory.h"
#include "nearest-rows.h"
#include "node-simd.h"
#include "node-vector-index.h"
#include "xxh3.h"

NAPI_MODULE_INIT() {
  if (!shoal::exportXxh3(env, exports) || !shoal::exportSimd(env, exports) ||
      !shoal::exportCrc32c(env, exports) || !shoal::exportFreeMemory(env, exports) ||
      !shoal::exportDuplicateDescriptor(env, exports) || !shoal::exportNearestRows(env, exports) ||
      !shoal::exportFloat32List(env, exports) || !shoal::exportVectorIndex(env, exports)) {
    napi_throw_error(env, nullptr, "the shoal addon could not export its functions");
    return nullptr;
  }
  return exports;
}
