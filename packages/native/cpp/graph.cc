#include "graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace shoal {
namespace {

using unum::usearch::index_config_t;
using unum::usearch::index_limits_t;
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

}  // namespace shoal
