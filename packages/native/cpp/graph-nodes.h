// The nodes of a graph: for each row its links in every layer that it stands in.
#pragma once
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace shoal {

/** A row that is linked to, or NO_LINK behind the last one of a list. */
using Link = std::atomic<uint32_t>;
constexpr uint32_t NO_LINK = UINT32_MAX;

/**
 * The links of a node in one layer, without gaps. Who writes holds the node's lock; readers need none: while a list is
 * replaced they may see old links beside new ones, and some twice.
 */
class LinkList {
 public:
  class Iterator {
   public:
    Iterator(const Link* at, const Link* end) : at_(at), end_(end) { load(); }
    uint32_t operator*() const { return row_; }
    Iterator& operator++() {
      at_++;
      load();
      return *this;
    }
    bool operator!=(const Iterator&) const { return row_ != NO_LINK; }

   private:
    void load() { row_ = at_ == end_ ? NO_LINK : at_->load(std::memory_order_acquire); }
    const Link* at_;
    const Link* end_;
    uint32_t row_;
  };

  LinkList() = default;
  LinkList(Link* links, size_t most) : links_(links), most_(most) {}

  /** How many links there is room for. */
  size_t most() const { return most_; }
  /** For the writer, or while nobody writes. */
  size_t size() const;
  /** The row that is linked to at `place`; NO_LINK behind the last one. */
  uint32_t at(size_t place) const { return place < most_ ? links_[place].load(std::memory_order_acquire) : NO_LINK; }
  Iterator begin() const { return {links_, links_ + most_}; }
  Iterator end() const { return {links_ + most_, links_ + most_}; }
  void prefetch() const {
    const char* bytes = reinterpret_cast<const char*>(links_);
    const size_t length = most_ * sizeof(Link) < 256 ? most_ * sizeof(Link) : 256;
    for (size_t offset = 0; offset < length; offset += 64) __builtin_prefetch(bytes + offset);
  }

  /** Writes one link at `place`, the first free one. */
  void append(size_t place, uint32_t row) { links_[place].store(row, std::memory_order_release); }
  /** Puts `count` rows, which `rowAt(i)` names, in place of the `old` ones there are. */
  template <typename RowAt>
  void replace(size_t old, size_t count, RowAt rowAt) {
    for (size_t i = 0; i < count; i++) links_[i].store(rowAt(i), std::memory_order_release);
    for (size_t i = count; i < old; i++) links_[i].store(NO_LINK, std::memory_order_release);
  }

 private:
  Link* links_ = nullptr;
  size_t most_ = 0;
};

/**
 * Node n is row n. The links of the lowest layer stand side by side at a fixed distance; few nodes have upper layers, and
 * those are kept apart. `append` alone takes memory; while it runs, nobody else may touch the nodes, but for `capacity`
 * and `memoryBytes`.
 */
class GraphNodes {
 public:
  static constexpr unsigned LEVEL_MAX = 64;

  GraphNodes(size_t lowestMost, size_t upperMost);
  ~GraphNodes();
  GraphNodes(const GraphNodes&) = delete;
  GraphNodes& operator=(const GraphNodes&) = delete;

  /** Nodes that there is room for. */
  size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  /** Makes room for one more node, in the layers 0 to `level`. False when there is no memory. */
  bool append(unsigned level);
  size_t memoryBytes() const { return memoryBytes_.load(std::memory_order_relaxed); }
  /** Whether the next node would need a new segment. */
  bool segmentFull() const { return (capacity() & mask_) == 0; }

  unsigned level(uint32_t row) const {
    const uint32_t upper = head(row).load(std::memory_order_relaxed) & UPPER;
    return upper == 0 ? 0 : uppers_[upper - 1].level;
  }
  LinkList links(uint32_t row, size_t layer) const {
    if (layer == 0) return {segments_[row >> shift_] + (row & mask_) * lowestMost_, lowestMost_};
    const uint32_t upper = head(row).load(std::memory_order_relaxed) & UPPER;
    return {uppers_[upper - 1].links + (layer - 1) * upperMost_, upperMost_};
  }

  /**
   * For a writer that changes the links of a node while others may: a lock for as long as a list is written. From then on the node
   * counts as changed.
   */
  void lock(uint32_t row);
  void unlock(uint32_t row) {
    const uint32_t before = head(row).fetch_and(~LOCKED, std::memory_order_release);
    assert((before & LOCKED) != 0);
    static_cast<void>(before);
  }

  /** Whether a list of the node was changed since `forgetChange`. */
  bool changed(uint32_t row) const { return (head(row).load(std::memory_order_relaxed) & CHANGED) != 0; }
  void forgetChange(uint32_t row) { head(row).fetch_and(~CHANGED, std::memory_order_relaxed); }
  /** A node of a row that died before it was linked: nothing leads to it or from it. */
  bool left(uint32_t row) const { return (head(row).load(std::memory_order_relaxed) & LEFT) != 0; }
  void leave(uint32_t row) { head(row).fetch_or(LEFT, std::memory_order_relaxed); }

 private:
  /** The links of the layers 1 to `level`, one list behind the other. */
  struct Upper {
    Link* links;
    unsigned level;
  };
  /** In the head of a node; the rest of it is the number of its upper layers, counted from 1, or 0. */
  static constexpr uint32_t LOCKED = uint32_t{1} << 31;
  static constexpr uint32_t CHANGED = uint32_t{1} << 30;
  static constexpr uint32_t LEFT = uint32_t{1} << 29;
  static constexpr uint32_t UPPER = LEFT - 1;

  /** What is left of the block that was last taken, and the size of the next one. */
  struct Rest {
    Link* at = nullptr;
    size_t links = 0;
    size_t nextBytes = 0;
  };

  std::atomic<uint32_t>& head(uint32_t row) const { return heads_[row]; }
  Link* take(Rest& rest, size_t links);
  bool growHeads();

  const size_t lowestMost_;
  const size_t upperMost_;
  size_t shift_ = 4;
  size_t mask_;
  std::atomic<size_t> capacity_{0};
  std::atomic<size_t> memoryBytes_{0};
  std::unique_ptr<std::atomic<uint32_t>[]> heads_;
  size_t headsCapacity_ = 0;
  std::vector<Link*> segments_;
  std::vector<Upper> uppers_;
  std::vector<void*> blocks_;
  Rest lowestRest_, upperRest_;
};

}  // namespace shoal
