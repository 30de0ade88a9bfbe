// Memory in large blocks. Searches touch it at random, so it lies in large pages where the system gives them on request:
// with 4 KiB pages a third of a search's time goes into finding the pages.
#pragma once
#include <cstddef>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace shoal {

constexpr size_t LARGE_PAGE_BYTES = size_t{2} * 1024 * 1024;
constexpr size_t CACHE_LINE_BYTES = 64;

/** Aligned to cache lines, and to large pages from that size on. To be freed with `std::free`. Null when there is none. */
inline void* takeBlock(size_t bytes) {
  const bool large = bytes >= LARGE_PAGE_BYTES;
  void* block = nullptr;
  if (posix_memalign(&block, large ? LARGE_PAGE_BYTES : CACHE_LINE_BYTES, bytes) != 0) return nullptr;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Only advice: without it everything works, more slowly.
  if (large) madvise(block, bytes / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES, MADV_HUGEPAGE);
#endif
  return block;
}

}  // namespace shoal
