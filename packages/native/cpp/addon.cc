// The door of the addon: what JavaScript sees is listed here, and typed in src/.
#include <node_api.h>

#include <initializer_list>

#include "crc32c.h"
#include "duplicate-descriptor.h"
#include "float32-list.h"
#include "free-memory.h"
#include "nearest-rows.h"
#include "node-simd.h"
#include "node-vector-index.h"
#include "xxh3.h"

NAPI_MODULE_INIT() {
  // Whoever returns false has thrown an error.
  for (const auto exportTo :
       {shoal::exportXxh3, shoal::exportSimd, shoal::exportCrc32c, shoal::exportFreeMemory,
        shoal::exportDuplicateDescriptor, shoal::exportNearestRows, shoal::exportFloat32List, shoal::exportVectorIndex})
    if (!exportTo(env, exports)) return nullptr;
  return exports;
}
