// A second descriptor of an open file or socket (fcntl(2), F_DUPFD_CLOEXEC), which Node has no call for.
#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "addon-exports.h"
#include "node-arguments.h"

namespace shoal {
namespace {

/** Not one of the three that every process has. */
constexpr int LOWEST = 3;

napi_value duplicateDescriptor(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int32_t descriptor = arguments.signed32();
  if (!arguments.ok || descriptor < 0) return fail(env, "duplicateDescriptor(descriptor) needs a descriptor");
  const int duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, LOWEST);
  if (duplicate < 0) {
    const char* code = errno == EMFILE ? "EMFILE" : errno == EBADF ? "EBADF" : nullptr;
    static_cast<void>(done(env, napi_throw_error(env, code, std::strerror(errno))));
    return nullptr;
  }
  return makeNumber(env, duplicate);
}

}  // namespace

bool exportDuplicateDescriptor(napi_env env, napi_value exports) {
  return setFunction(env, exports, "duplicateDescriptor", duplicateDescriptor);
}

}  // namespace shoal
