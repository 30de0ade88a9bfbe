// Memory for graph nodes: taken in blocks, never given back one by one.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "large-blocks.h"

namespace shoal {

/**
 * An allocator as USearch wants its tape: copies share the blocks, `deallocate` does nothing, and the blocks go when the
 * last copy goes. Not thread-safe: USearch allocates nodes under its own lock.
 */
class ArenaAllocator {
 public:
  using value_type = char;
  using size_type = size_t;
  using pointer = char*;

  char* allocate(size_t bytes) {
    return blocks_->take(bytes);
  }
  void deallocate(char*, size_t) {}
  size_t memoryBytes() const { return blocks_->total.load(std::memory_order_relaxed); }

 private:
  struct Blocks {
    std::vector<char*> all;
    size_t used = 0, size = 0;
    /** Atomic because statistics ask for it at any time. */
    std::atomic<size_t> total{0};

    char* take(size_t bytes) {
      bytes = (bytes + 7) / 8 * 8;
      if (used + bytes > size) {
        // Small for small indexes, then one large page after the other.
        size_t next = size == 0 ? 64 * 1024 : size * 2;
        if (next > LARGE_PAGE_BYTES) next = LARGE_PAGE_BYTES;
        if (next < bytes) next = bytes;
        char* block = static_cast<char*>(takeBlock(next));
        if (block == nullptr) return nullptr;
        all.push_back(block);
        used = 0;
        size = next;
        total += next;
      }
      used += bytes;
      return all.back() + used - bytes;
    }
    ~Blocks() {
      for (char* block : all) std::free(block);
    }
  };
  std::shared_ptr<Blocks> blocks_ = std::make_shared<Blocks>();
};

}  // namespace shoal
