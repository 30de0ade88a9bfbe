#include "graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace shoal {
namespace {

using unum::usearch::index_config_t;
using unum::usearch::index_limits_t;
using unum::usearch::index_serialized_header_t;
using unum::usearch::index_update_config_t;

/** The row that is being linked: known as soon as USearch has given it a slot. */
struct Linking {
  uint32_t slot;
};

/** More than rounding to high halves can make of the distance between equal vectors. */
constexpr float EQUAL_DISTANCE_MAX = 0.01f;

/**
 * Distance between rows for USearch, which calls it with the row being linked, or with two members. Copies of one vector
 * are all nearest to each other, and would fill each other's links until no search that came among them got out again.
 * So between copies there is a made-up distance, below all real ones and different for each pair: by it the pruning
 * keeps some copies, and leaves places for other neighbours.
 */
struct RowDistance {
  const Rows& rows;
  const SimdKernels& kernels;

  float between(uint32_t first, uint32_t second) const {
    const uint16_t* a = rows.high(first);
    const uint16_t* b = rows.high(second);
    const float distance = 1 - kernels.dotHigh(a, b, rows.lanes());
    if (distance > EQUAL_DISTANCE_MAX || std::memcmp(a, b, rows.lanes() * sizeof(uint16_t)) != 0) return distance;
    const uint64_t pair = uint64_t{std::min(first, second)} << 32 | std::max(first, second);
    const uint64_t mixed = (pair ^ pair >> 29) * 0x9E3779B97F4A7C15u;
    return -1 - static_cast<float>(mixed >> 40) * 0x1p-24f;
  }
  template <typename Member>
  float operator()(const Linking& linking, const Member& member) const {
    return between(linking.slot, static_cast<uint32_t>(get_slot(member)));
  }
  template <typename Member>
  float operator()(const Member& first, const Member& second) const {
    return between(static_cast<uint32_t>(get_slot(first)), static_cast<uint32_t>(get_slot(second)));
  }
};

struct RowPrefetch {
  const Rows& rows;
  size_t bytes;

  template <typename First, typename Last>
  void operator()(First at, Last end) const {
    for (; at != end; ++at) {
      const char* row = reinterpret_cast<const char*>(rows.high(get_slot(at)));
      for (size_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch(row + offset);
    }
  }
};

constexpr size_t SAMPLES = 256;

/** Links are the pruned neighbours: the fifth nearest of them is about as far as the tenth neighbour. */
constexpr size_t NEAR_LINK = 4;

/** A node with fewer links to it is often missed although it can be reached; there are about 50 in 100,000. */
constexpr uint8_t FIRM_LINKS = 3;
constexpr size_t WEAK_NODES_MIN = 32;
constexpr size_t WEAK_NODES_SHARE = 1000;

template <typename Number>
void put(std::vector<uint8_t>& out, Number value) {
  const size_t at = out.size();
  out.resize(at + sizeof(Number));
  std::memcpy(out.data() + at, &value, sizeof(Number));
}

}  // namespace

Graph::Graph(size_t connectivityBase, size_t efConstruction, size_t threads)
    : connectivity_(std::max<size_t>(2, connectivityBase / 2)),
      connectivityBase_(std::max(connectivity_, connectivityBase)),
      efConstruction_(efConstruction),
      threads_(threads),
      index_(index_config_t(connectivity_, connectivityBase_)) {}

bool Graph::prepare(size_t nodes, const Rows& rows) {
  if (size() >= SAMPLES && size() >= sampledAt_ + sampledAt_ / 8) sample(rows);
  if (nodes <= capacity()) return true;
  const size_t wanted = std::max(nodes, capacity() + capacity() / 2);
  return index_.try_reserve(index_limits_t(std::max<size_t>(wanted, 1024), threads_));
}

bool Graph::link(const Rows& rows, size_t thread) {
  index_update_config_t config;
  config.expansion = efConstruction_;
  config.thread = thread;
  Linking linking{0};
  const size_t bytes = std::min<size_t>(rows.lanes() * 2, 512);
  auto slotKnown = [&](auto member) { linking.slot = static_cast<uint32_t>(get_slot(member)); };
  auto result = index_.add(0, linking, RowDistance{rows, simdKernels()}, config, slotKnown, RowPrefetch{rows, bytes});
  if (!result) {
    result.error.release();
    return false;
  }
  noteEntry(result.slot);
  return true;
}

void Graph::noteEntry(uint32_t slot) {
  const int level = static_cast<int>(index_.level_of(slot));
  if (level <= entryLevel_.load(std::memory_order_relaxed)) return;
  const std::lock_guard<std::mutex> lock(entryMutex_);
  if (level <= entryLevel_.load(std::memory_order_relaxed)) return;
  entry_ = slot;
  entryLevel_.store(level, std::memory_order_relaxed);
}

void Graph::sample(const Rows& rows) {
  const SimdKernels& kernels = simdKernels();
  const size_t step = std::max<size_t>(1, size() / SAMPLES);
  size_t links = 0, samples = 0;
  double sum = 0, squares = 0;
  std::vector<float> distances;
  for (size_t slot = 0; slot < size(); slot += step) {
    const auto neighbours = index_.neighbors(static_cast<uint32_t>(slot), 0);
    links += neighbours.size();
    samples++;
    distances.clear();
    for (auto at = neighbours.begin(); at != neighbours.end(); ++at)
      distances.push_back(1 - kernels.dotHigh(rows.high(slot), rows.high(at.slot()), rows.lanes()));
    if (distances.empty()) continue;
    const size_t place = std::min(NEAR_LINK, distances.size() - 1);
    std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(place), distances.end());
    sum += distances[place];
    squares += double{distances[place]} * distances[place];
  }
  const double mean = sum / static_cast<double>(samples);
  const double variance = std::max(0.0, squares / static_cast<double>(samples) - mean * mean);
  meanDegree_ = static_cast<float>(links) / static_cast<float>(samples);
  nearDistances_ = {static_cast<float>(mean), static_cast<float>(std::sqrt(variance))};
  sampledAt_ = size();
}

void Graph::checkNewest() {
  std::vector<uint32_t> lost;
  for (; checkedUpTo_ < size(); checkedUpTo_++) {
    const uint32_t slot = static_cast<uint32_t>(checkedUpTo_);
    // Only those that it links to can have linked back so far; later ones linked to it because they had reached it.
    bool reached = slot == entry_;
    const auto neighbours = index_.neighbors(slot, 0);
    for (auto at = neighbours.begin(); !reached && at != neighbours.end(); ++at) {
      const auto back = index_.neighbors(at.slot(), 0);
      for (auto link = back.begin(); !reached && link != back.end(); ++link) reached = link.slot() == slot;
    }
    if (!reached) lost.push_back(slot);
  }
  if (lost.empty()) return;
  lost.insert(lost.begin(), unreachable_->begin(), unreachable_->end());
  keepUnreachable(std::move(lost));
}

std::vector<uint32_t> Graph::findUnreachable() const {
  std::vector<uint32_t> lost;
  std::vector<uint32_t> open;
  std::vector<bool> seen(size());
  std::vector<uint8_t> linked(size());
  const auto follow = [&](uint32_t first) {
    seen[first] = true;
    open.push_back(first);
    while (!open.empty()) {
      const auto neighbours = index_.neighbors(open.back(), 0);
      open.pop_back();
      for (auto at = neighbours.begin(); at != neighbours.end(); ++at) {
        const uint32_t slot = at.slot();
        if (linked[slot] < FIRM_LINKS) linked[slot]++;
        if (seen[slot]) continue;
        seen[slot] = true;
        open.push_back(slot);
      }
    }
  };
  if (size() > 0) follow(entry_);
  for (size_t slot = 0; slot < size(); slot++) {
    if (seen[slot]) continue;
    lost.push_back(static_cast<uint32_t>(slot));
    // What hangs on this one is reached through it.
    follow(static_cast<uint32_t>(slot));
  }
  const size_t most = lost.size() + WEAK_NODES_MIN + size() / WEAK_NODES_SHARE;
  for (size_t slot = 0; slot < size() && lost.size() < most; slot++)
    if (linked[slot] < FIRM_LINKS) lost.push_back(static_cast<uint32_t>(slot));
  return lost;
}

void Graph::keepUnreachable(std::vector<uint32_t> nodes) {
  std::atomic_store(&unreachable_, std::shared_ptr<const std::vector<uint32_t>>(
                                       std::make_shared<std::vector<uint32_t>>(std::move(nodes))));
}

uint32_t Graph::descend(const Rows& rows, const uint16_t* query, float& distance, size_t& distances) const {
  const SimdKernels& kernels = simdKernels();
  uint32_t best = entry_;
  distance = 1 - kernels.dotHigh(query, rows.high(best), rows.lanes());
  distances++;
  for (int level = entryLevel_.load(std::memory_order_relaxed); level > 0; level--) {
    for (bool closer = true; closer;) {
      closer = false;
      const auto neighbours = index_.neighbors(best, static_cast<size_t>(level));
      const auto end = neighbours.end();
      for (auto at = neighbours.begin(); at != end; ++at) {
        const char* row = reinterpret_cast<const char*>(rows.high(at.slot()));
        for (size_t offset = 0; offset < 256; offset += 64) __builtin_prefetch(row + offset);
      }
      for (auto at = neighbours.begin(); at != end; ++at) {
        const uint32_t slot = at.slot();
        const float candidate = 1 - kernels.dotHigh(query, rows.high(slot), rows.lanes());
        distances++;
        if (candidate < distance) {
          distance = candidate;
          best = slot;
          closer = true;
        }
      }
    }
  }
  return best;
}

size_t Graph::memoryBytes() const {
  return index_.tape_allocator().memoryBytes() + capacity() * sizeof(void*) +
         (capacity() == 0 ? 0 : threads_ * connectivityBase_ * 4 * 128);
}

// A node is written as its level (u16) and, for each layer from the lowest, the number of neighbours (u16) and their
// rows (u32 each), all little-endian.
size_t Graph::exportNodes(size_t first, std::vector<uint8_t>& out, size_t bytesMax) const {
  size_t slot = first;
  for (; slot < size(); slot++) {
    const size_t levels = index_.level_of(static_cast<uint32_t>(slot));
    size_t bytes = 2;
    for (size_t level = 0; level <= levels; level++)
      bytes += 2 + 4 * index_.neighbors(static_cast<uint32_t>(slot), level).size();
    if (out.size() + bytes > bytesMax) break;
    put(out, static_cast<uint16_t>(levels));
    for (size_t level = 0; level <= levels; level++) {
      const auto neighbours = index_.neighbors(static_cast<uint32_t>(slot), level);
      put(out, static_cast<uint16_t>(neighbours.size()));
      for (auto at = neighbours.begin(); at != neighbours.end(); ++at) put(out, at.slot());
    }
  }
  return slot;
}

std::string Graph::importNodes(const uint8_t* bytes, size_t length, size_t count) {
  size_t at = 0;
  auto take16 = [&](uint16_t& value) {
    if (length - at < 2) return false;
    std::memcpy(&value, bytes + at, 2);
    at += 2;
    return true;
  };
  for (size_t node = 0; node < count; node++) {
    uint16_t levels;
    if (!take16(levels) || levels > 64) return "a graph node has an impossible level";
    importedLevels_.push_back(static_cast<int16_t>(levels));
    for (size_t level = 0; level <= levels; level++) {
      uint16_t links;
      if (!take16(links)) return "a graph node is cut short";
      if (links > (level == 0 ? connectivityBase_ : connectivity_)) return "a graph node has too many neighbours";
      if ((length - at) / 4 < links) return "a graph node is cut short";
      const size_t old = importedLinks_.size();
      importedLinks_.resize(old + 1 + links);
      importedLinks_[old] = links;
      std::memcpy(importedLinks_.data() + old + 1, bytes + at, size_t{links} * 4);
      at += size_t{links} * 4;
    }
  }
  return at == length ? "" : "graph nodes are followed by unknown bytes";
}

std::string Graph::finishImport(const Rows& rows) {
  const size_t nodes = importedLevels_.size();
  if (nodes == 0) return "";
  if (nodes > rows.count()) return "the graph has more nodes than there are vectors";
  // Every link leads to a node that exists in that layer.
  size_t at = 0, entry = 0;
  for (size_t node = 0; node < nodes; node++) {
    if (importedLevels_[node] > importedLevels_[entry]) entry = node;
    for (int level = 0; level <= importedLevels_[node]; level++) {
      const size_t links = importedLinks_[at++];
      for (size_t i = 0; i < links; i++, at++)
        if (importedLinks_[at] >= nodes || importedLevels_[importedLinks_[at]] < level)
          return "a graph link leads nowhere";
    }
  }
  index_.try_reserve(index_limits_t(0, threads_));
  // USearch reads its own stream: a header, all levels, then each node with room for all the links it may get.
  index_serialized_header_t header;
  header.size = nodes;
  header.connectivity = connectivity_;
  header.connectivity_base = connectivityBase_;
  header.max_level = static_cast<uint64_t>(importedLevels_[entry]);
  header.entry_slot = entry;
  size_t part = 0, node = 0, links = 0;
  auto input = [&](void* target, size_t length) {
    if (target == nullptr) return false;
    if (part == 0) {
      std::memcpy(target, &header, sizeof(header));
    } else if (part == 1) {
      std::memcpy(target, importedLevels_.data(), length);
    } else {
      uint8_t* out = static_cast<uint8_t*>(target);
      std::memset(out, 0, length);
      const int16_t levels = importedLevels_[node++];
      std::memcpy(out + sizeof(uint32_t), &levels, sizeof(levels));
      out += sizeof(uint32_t) + sizeof(levels);
      for (int level = 0; level <= levels; level++) {
        const uint32_t count = importedLinks_[links];
        std::memcpy(out, importedLinks_.data() + links, (size_t{count} + 1) * sizeof(uint32_t));
        out += level == 0 ? index_.neighbors_base_bytes() : index_.neighbors_bytes();
        links += size_t{count} + 1;
      }
    }
    part++;
    return true;
  };
  auto result = index_.load_from_stream(input);
  if (!result) {
    result.error.release();
    return "out of memory";
  }
  importedLevels_ = {};
  importedLinks_ = {};
  entry_ = static_cast<uint32_t>(entry);
  entryLevel_.store(static_cast<int>(header.max_level), std::memory_order_relaxed);
  sample(rows);
  keepUnreachable(findUnreachable());
  checkedUpTo_ = nodes;
  return "";
}

}  // namespace shoal
