// A second descriptor of an open file or socket (fcntl(2), F_DUPFD_CLOEXEC), which Node has no call for.
#include "duplicate-descriptor.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "node-value.h"

namespace shoal {
namespace {

/** Not one of the three that every process has. */
constexpr int LOWEST = 3;

napi_value duplicateDescriptor(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value value;
  napi_get_cb_info(env, info, &count, &value, nullptr, nullptr);
  int32_t descriptor = -1;
  if (count != 1 || !readSigned32(env, value, descriptor) || descriptor < 0)
    return fail(env, "duplicateDescriptor(descriptor) needs a descriptor");
  const int duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, LOWEST);
  if (duplicate < 0) {
    napi_throw_error(env, errno == EMFILE ? "EMFILE" : errno == EBADF ? "EBADF" : nullptr, std::strerror(errno));
    return nullptr;
  }
  napi_value result;
  napi_create_int32(env, duplicate, &result);
  return result;
}

}  // namespace

bool exportDuplicateDescriptor(napi_env env, napi_value exports) {
  return setFunction(env, exports, "duplicateDescriptor", duplicateDescriptor);
}

}  // namespace shoal
