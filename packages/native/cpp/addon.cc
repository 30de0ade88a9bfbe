// The door of the addon: what JavaScript sees is typed in src/.
#include <initializer_list>

#include "addon-exports.h"

NAPI_MODULE_INIT() {
  for (const auto exportTo :
       {shoal::exportXxh3, shoal::exportSimd, shoal::exportCrc32c, shoal::exportFreeMemory,
        shoal::exportDuplicateDescriptor, shoal::exportNearestRows, shoal::exportFloat32List, shoal::exportIdHashes,
        shoal::exportVectorIndex})
    if (!exportTo(env, exports)) return nullptr;
  return exports;
}
