#include "graph.h"

#include <cmath>

namespace shoal {
namespace {

constexpr size_t SAMPLES = 256;

/** Links are the pruned neighbours: the fifth nearest of them is about as far as the tenth neighbour. */
constexpr size_t NEAR_LINK = 4;

/**
 * The highest layer of a node: each layer holds the `connectivity`-th part of the one below. It is drawn from the row's
 * number, so that room for a node can be made before it is linked.
 */
unsigned drawLevel(size_t row, size_t connectivity) {
  uint64_t mixed = (row + 1) * 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
  mixed ^= mixed >> 31;
  // Above 0, and not above 1.
  const double drawn = static_cast<double>((mixed >> 11) + 1) * 0x1p-53;
  if (drawn * static_cast<double>(connectivity) > 1) return 0;
  return static_cast<unsigned>(-std::log(drawn) / std::log(static_cast<double>(connectivity)));
}

}  // namespace

Graph::Graph(size_t connectivityBase, size_t efConstruction)
    : connectivity_(std::max<size_t>(2, connectivityBase / 2)),
      connectivityBase_(std::max(connectivity_, connectivityBase)),
      efConstruction_(std::max<size_t>(1, efConstruction)),
      nodes_(connectivityBase_, connectivity_) {}

bool Graph::prepare(size_t nodes, const Rows& rows) {
  if (size() >= SAMPLES && size() >= sampledAt_ + sampledAt_ / 8) sample(rows);
  return reserve(nodes);
}

bool Graph::reserve(size_t nodes) {
  // The whole of the last segment: its memory is there, and more rows may come while links are made.
  while (capacity() < nodes || !nodes_.segmentFull())
    if (!nodes_.append(drawLevel(capacity(), connectivity_))) return capacity() >= nodes;
  return true;
}

void Graph::sample(const Rows& rows) {
  const SimdKernels& kernels = simdKernels();
  // By codes where halves are not in memory: that is near enough for a mean.
  const auto distanceOf = [&](size_t first, size_t second) {
    if (rows.resident(first) && rows.resident(second))
      return 1 - kernels.dotHigh(rows.high(first), rows.high(second), rows.lanes());
    const int8_t* other = rows.codes(second);
    float dot;
    kernels.dotCodesMany(rows.codes(first), &other, 1, rows.codeBytes(), &dot);
    return 1 - dot;
  };
  const size_t step = std::max<size_t>(1, size() / SAMPLES);
  size_t links = 0, samples = 0;
  double sum = 0, squares = 0;
  std::vector<float> distances;
  for (size_t slot = 0; slot < size(); slot += step) {
    if (nodes_.left(static_cast<uint32_t>(slot))) continue;
    samples++;
    distances.clear();
    for (const uint32_t neighbour : nodes_.links(static_cast<uint32_t>(slot), 0))
      distances.push_back(distanceOf(slot, neighbour));
    links += distances.size();
    if (distances.empty()) continue;
    const size_t place = std::min(NEAR_LINK, distances.size() - 1);
    std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(place), distances.end());
    sum += distances[place];
    squares += double{distances[place]} * distances[place];
  }
  sampledAt_ = size();
  if (samples == 0) return;
  const double mean = sum / static_cast<double>(samples);
  const double variance = std::max(0.0, squares / static_cast<double>(samples) - mean * mean);
  meanDegree_ = static_cast<float>(links) / static_cast<float>(samples);
  nearDistances_ = {static_cast<float>(mean), static_cast<float>(std::sqrt(variance))};
}

Candidate Graph::descend(RowDistances& distances, const Point& point, uint32_t entry, int from, int to,
                         size_t& computed) const {
  Candidate best{0, entry};
  distances.measure(point, &best, 1);
  computed++;
  Candidate batch[DISTANCES_AT_ONCE];
  for (int level = from; level > to; level--) {
    for (bool closer = true; closer;) {
      closer = false;
      const LinkList neighbours = nodes_.links(best.row, static_cast<size_t>(level));
      auto at = neighbours.begin();
      const auto end = neighbours.end();
      while (at != end) {
        size_t count = 0;
        for (; at != end && count < DISTANCES_AT_ONCE; ++at) {
          distances.prefetch(*at);
          batch[count++].row = *at;
        }
        distances.measure(point, batch, count);
        computed += count;
        for (size_t i = 0; i < count; i++) {
          if (batch[i].distance >= best.distance) continue;
          best = batch[i];
          closer = true;
        }
      }
    }
  }
  return best;
}

size_t Graph::memoryBytes() const { return nodes_.memoryBytes(); }

}  // namespace shoal
