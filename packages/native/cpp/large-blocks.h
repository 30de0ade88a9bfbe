// Memory in large blocks. Searches touch it at random, so it lies in large pages where the system gives them on request:
// with 4 KiB pages a third of a search's time goes into finding the pages.
#pragma once
#include <cstddef>
#include <cstdlib>

#include <sys/mman.h>

#include <cstdint>

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

/**
 * The same, as a mapping of its own: what is given back by `giveBack` leaves the process at once, wherever the allocator keeps
 * what is freed. Null when there is none.
 */
inline void* takeMapping(size_t bytes) {
  constexpr int PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS;
  const bool large = bytes >= LARGE_PAGE_BYTES;
  const size_t spare = large ? LARGE_PAGE_BYTES : 0;
  void* mapped = mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, PRIVATE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (!large) return mapped;
  // What stands before and behind the aligned part goes back.
  uint8_t* start = static_cast<uint8_t*>(mapped);
  const size_t over = reinterpret_cast<uintptr_t>(start) % LARGE_PAGE_BYTES;
  const size_t before = over == 0 ? 0 : LARGE_PAGE_BYTES - over;
  if (before > 0) munmap(start, before);
  if (spare > before) munmap(start + before + bytes, spare - before);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  madvise(start + before, bytes / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES, MADV_HUGEPAGE);
#endif
  return start + before;
}

inline void giveBack(void* mapping, size_t bytes) { munmap(mapping, bytes); }

}  // namespace shoal
