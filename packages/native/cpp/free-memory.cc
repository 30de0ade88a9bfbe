// Gives memory that was freed back to the system. glibc keeps what lies below something that is still in use, in each of its
// arenas: after an import some 70 MB (malloc_trim(3) gives whole pages back, wherever they lie).
#include "free-memory.h"

#include <atomic>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "node-value.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace shoal {
namespace {

#if defined(__GLIBC__)

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

bool returnMemory() { return false; }

#endif

napi_value returnFreeMemory(napi_env env, napi_callback_info) {
  napi_value result;
  napi_get_boolean(env, returnMemory(), &result);
  return result;
}

}  // namespace

bool exportFreeMemory(napi_env env, napi_value exports) {
  return setFunction(env, exports, "returnFreeMemory", returnFreeMemory);
}

}  // namespace shoal
