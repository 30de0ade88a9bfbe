// Gives memory that was freed back to the system. glibc keeps what lies below something that is still in use, in each of its
// arenas: after an import some 70 MB (malloc_trim(3) gives whole pages back, wherever they lie).
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include "addon-exports.h"
#include "node-value.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace shoal {
namespace {

#if defined(__GLIBC__)

/**
 * By default glibc makes 8 arenas a core, one for each thread that allocates, and each keeps what was freed in it. Threads here rarely
 * allocate at the same moment, and small pieces come from a cache of each thread's own.
 */
constexpr int ARENAS_MAX = 2;

/**
 * By default glibc takes larger blocks from the heap, and keeps more at its end, each time that a large one is freed: up to 32 and 64 MB.
 * Large ones here are buffers of snapshots and imports, which go again.
 */
constexpr int MAPPED_BYTES_MIN = 1024 * 1024;
constexpr int KEPT_BYTES_MAX = 1024 * 1024;

/** Unless the environment says so itself. */
void set(int parameter, int value, const char* variable, const char* tunable) {
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  if (std::getenv(variable) != nullptr || (tunables != nullptr && std::strstr(tunables, tunable) != nullptr)) return;
  mallopt(parameter, value);
}

void keepLittle() {
  set(M_ARENA_MAX, ARENAS_MAX, "MALLOC_ARENA_MAX", "glibc.malloc.arena_max");
  set(M_MMAP_THRESHOLD, MAPPED_BYTES_MIN, "MALLOC_MMAP_THRESHOLD_", "glibc.malloc.mmap_threshold");
  set(M_TRIM_THRESHOLD, KEPT_BYTES_MAX, "MALLOC_TRIM_THRESHOLD_", "glibc.malloc.trim_threshold");
}

std::atomic<bool> isUnderWay{false};

/** On a thread of its own: it looks at all that is free, and others go on meanwhile in arenas that it is not in. */
bool returnMemory() {
  if (isUnderWay.exchange(true)) return true;
  try {
    std::thread([] {
      malloc_trim(0);
      isUnderWay.store(false);
    }).detach();
  } catch (const std::system_error&) {
    isUnderWay.store(false);
    return false;
  }
  return true;
}

#else

void keepLittle() {}

bool returnMemory() { return false; }

#endif

napi_value returnFreeMemory(napi_env env, napi_callback_info) { return makeBoolean(env, returnMemory()); }

}  // namespace

bool exportFreeMemory(napi_env env, napi_value exports) {
  keepLittle();
  return setFunction(env, exports, "returnFreeMemory", returnFreeMemory);
}

}  // namespace shoal
