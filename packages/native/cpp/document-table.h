// Document id to row, for ids anywhere in 32 bits, readable while it is written.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace shoal {

constexpr uint32_t NO_ROW = UINT32_MAX;

/** A tree of three levels (10, 10 and 12 bits). One writer at a time; readers need no lock. */
class DocumentTable {
 public:
  DocumentTable() = default;
  ~DocumentTable() {
    for (auto& middle : top_) {
      Middle* found = middle.load(std::memory_order_relaxed);
      if (found == nullptr) continue;
      for (auto& leaf : found->leaves) delete leaf.load(std::memory_order_relaxed);
      delete found;
    }
  }
  DocumentTable(const DocumentTable&) = delete;
  DocumentTable& operator=(const DocumentTable&) = delete;

  uint32_t find(uint32_t document) const {
    const Leaf* leaf = leafOf(document);
    return leaf == nullptr ? NO_ROW : leaf->rows[document & LEAF_MASK].load(std::memory_order_acquire);
  }

  /** False when there is no memory. */
  bool set(uint32_t document, uint32_t row) {
    auto& middleAt = top_[document >> 22];
    Middle* middle = middleAt.load(std::memory_order_relaxed);
    if (middle == nullptr) {
      middle = new (std::nothrow) Middle();
      if (middle == nullptr) return false;
      middleAt.store(middle, std::memory_order_release);
      memoryBytes_.fetch_add(sizeof(Middle), std::memory_order_relaxed);
    }
    auto& leafAt = middle->leaves[document >> 12 & 1023];
    Leaf* leaf = leafAt.load(std::memory_order_relaxed);
    if (leaf == nullptr) {
      leaf = new (std::nothrow) Leaf();
      if (leaf == nullptr) return false;
      for (auto& entry : leaf->rows) entry.store(NO_ROW, std::memory_order_relaxed);
      leafAt.store(leaf, std::memory_order_release);
      memoryBytes_.fetch_add(sizeof(Leaf), std::memory_order_relaxed);
    }
    leaf->rows[document & LEAF_MASK].store(row, std::memory_order_release);
    return true;
  }

  void clear(uint32_t document) {
    Leaf* leaf = const_cast<Leaf*>(leafOf(document));
    if (leaf != nullptr) leaf->rows[document & LEAF_MASK].store(NO_ROW, std::memory_order_release);
  }

  size_t memoryBytes() const { return sizeof(*this) + memoryBytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t LEAF_MASK = 4095;
  struct Leaf {
    std::atomic<uint32_t> rows[4096];
  };
  struct Middle {
    std::atomic<Leaf*> leaves[1024] = {};
  };

  const Leaf* leafOf(uint32_t document) const {
    const Middle* middle = top_[document >> 22].load(std::memory_order_acquire);
    return middle == nullptr ? nullptr : middle->leaves[document >> 12 & 1023].load(std::memory_order_acquire);
  }

  std::atomic<Middle*> top_[1024] = {};
  std::atomic<size_t> memoryBytes_{0};
};

}  // namespace shoal
