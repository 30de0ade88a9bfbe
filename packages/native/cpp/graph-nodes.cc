#include "graph-nodes.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <thread>

#include "large-blocks.h"

namespace shoal {
namespace {

constexpr size_t SEGMENT_BYTES = 256 * 1024;
constexpr size_t FIRST_UPPER_BYTES = 8 * 1024;
/** Blocks begin small, for small indexes, and grow up to one large page. */
constexpr size_t BLOCK_GROWTH = 2;
constexpr size_t FIRST_HEADS = 1024;
/** How often a lock is tried before the processor is left to its holder. */
constexpr unsigned TRIES = 64;

}  // namespace

size_t LinkList::size() const {
  size_t low = 0, high = most_;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (links_[middle].load(std::memory_order_relaxed) == NO_LINK) high = middle;
    else low = middle + 1;
  }
  return low;
}

GraphNodes::GraphNodes(size_t lowestMost, size_t upperMost) : lowestMost_(lowestMost), upperMost_(upperMost) {
  while ((size_t{2} << shift_) * lowestMost_ * sizeof(Link) <= SEGMENT_BYTES && shift_ < 12) shift_++;
  mask_ = (size_t{1} << shift_) - 1;
  lowestRest_.nextBytes = SEGMENT_BYTES;
  upperRest_.nextBytes = FIRST_UPPER_BYTES;
}

GraphNodes::~GraphNodes() {
  for (void* block : blocks_) std::free(block);
}

Link* GraphNodes::take(Rest& rest, size_t links) {
  if (rest.links < links) {
    const size_t bytes = std::max(rest.nextBytes, links * sizeof(Link));
    if (blocks_.size() == blocks_.capacity()) blocks_.reserve(blocks_.size() * 2 + 8);
    void* block = takeBlock(bytes);
    if (block == nullptr) return nullptr;
    blocks_.push_back(block);
    memoryBytes_.fetch_add(bytes, std::memory_order_relaxed);
    rest.at = static_cast<Link*>(block);
    rest.links = bytes / sizeof(Link);
    rest.nextBytes = std::min(rest.nextBytes * BLOCK_GROWTH, LARGE_PAGE_BYTES);
  }
  Link* taken = rest.at;
  rest.at += links;
  rest.links -= links;
  for (size_t i = 0; i < links; i++) new (taken + i) Link(NO_LINK);
  return taken;
}

bool GraphNodes::growHeads() {
  const size_t wanted = std::max(FIRST_HEADS, headsCapacity_ + headsCapacity_ / 2);
  std::unique_ptr<std::atomic<uint32_t>[]> grown(new (std::nothrow) std::atomic<uint32_t>[wanted]);
  if (grown == nullptr) return false;
  for (size_t row = 0; row < wanted; row++)
    grown[row].store(row < headsCapacity_ ? heads_[row].load(std::memory_order_relaxed) : 0, std::memory_order_relaxed);
  memoryBytes_.fetch_add((wanted - headsCapacity_) * sizeof(uint32_t), std::memory_order_relaxed);
  heads_ = std::move(grown);
  headsCapacity_ = wanted;
  return true;
}

bool GraphNodes::append(unsigned level) {
  const size_t row = capacity();
  try {
    if (row == headsCapacity_ && !growHeads()) return false;
    if (row >> shift_ == segments_.size()) {
      Link* segment = take(lowestRest_, (mask_ + 1) * lowestMost_);
      if (segment == nullptr) return false;
      segments_.push_back(segment);
    }
    uint32_t upper = 0;
    if (level > 0) {
      Link* links = take(upperRest_, level * upperMost_);
      if (links == nullptr) return false;
      uppers_.push_back({links, level});
      upper = static_cast<uint32_t>(uppers_.size());
    }
    head(static_cast<uint32_t>(row)).store(upper, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    return false;
  }
  capacity_.store(row + 1, std::memory_order_relaxed);
  return true;
}

void GraphNodes::lock(uint32_t row) {
  std::atomic<uint32_t>& word = head(row);
  for (unsigned tries = 0; (word.fetch_or(LOCKED | CHANGED, std::memory_order_acquire) & LOCKED) != 0;)
    if (++tries % TRIES == 0) std::this_thread::yield();
}

}  // namespace shoal
