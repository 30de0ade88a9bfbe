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

/** Unless the environment says how many there may be. */
void keepFewArenas() {
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  if (std::getenv("MALLOC_ARENA_MAX") != nullptr) return;
  if (tunables != nullptr && std::strstr(tunables, "glibc.malloc.arena_max") != nullptr) return;
  mallopt(M_ARENA_MAX, ARENAS_MAX);
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

void keepFewArenas() {}

bool returnMemory() { return false; }

#endif

napi_value returnFreeMemory(napi_env env, napi_callback_info) { return makeBoolean(env, returnMemory()); }

}  // namespace

bool exportFreeMemory(napi_env env, napi_value exports) {
  keepFewArenas();
  return setFunction(env, exports, "returnFreeMemory", returnFreeMemory);
}

}  // namespace shoal
