// Bytes that belong to somebody else, while native threads read or write them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace shoal {

/** They stay where they are as long as `owner` is held; null when the caller sees to that. */
struct LentBytes {
  uint8_t* data = nullptr;
  size_t length = 0;
  std::shared_ptr<const void> owner;
};

}  // namespace shoal
