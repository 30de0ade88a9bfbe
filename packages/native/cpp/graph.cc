#include "graph.h"

#include <cmath>

namespace shoal {
namespace {

constexpr size_t SAMPLES = 256;

/** Links are the pruned neighbours: the fifth nearest of them is about as far as the tenth neighbour. */
constexpr size_t NEAR_LINK = 4;

/** Codes are compared with halves over so many links of a node. */
constexpr size_t ORDERED_LINKS = 32;
constexpr size_t ORDERED_LINKS_MIN = 8;
/** They keep the order of what differs by so many times their error, in the root of the mean square. */
constexpr double ORDERED = 3;
/** And they are read where they lose it of no more than one node in so many, as far as enough nodes are known. */
constexpr size_t LOST_SHARE = 32;
constexpr size_t ORDERED_NODES_MIN = 64;

size_t upperLinks(size_t connectivityBase) { return std::max<size_t>(2, connectivityBase / 2); }
size_t lowestLinks(size_t connectivityBase) { return std::max(upperLinks(connectivityBase), connectivityBase); }

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

double varianceOf(const std::vector<double>& numbers) {
  double sum = 0, squares = 0;
  for (const double number : numbers) {
    sum += number;
    squares += number * number;
  }
  const double mean = sum / static_cast<double>(numbers.size());
  return std::max(0.0, squares / static_cast<double>(numbers.size()) - mean * mean);
}

}  // namespace

Graph::Graph(size_t connectivityBase, size_t efConstruction)
    : connectivity_(upperLinks(connectivityBase)),
      connectivityBase_(lowestLinks(connectivityBase)),
      efConstruction_(std::max<size_t>(1, efConstruction)),
      nodes_(lowestLinks(connectivityBase), upperLinks(connectivityBase)) {}

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

float Graph::nearDistance(const Rows& rows, uint32_t row) const {
  const SimdKernels& kernels = simdKernels();
  const auto distanceTo = [&](uint32_t other) {
    if (rows.resident(row) && rows.resident(other))
      return 1 - kernels.dotHigh(rows.high(row), rows.high(other), rows.lanes());
    return distanceByCodes(rows, rows.codes(row), other);
  };
  std::vector<float> distances;
  for (const uint32_t neighbour : nodes_.links(row, 0)) distances.push_back(distanceTo(neighbour));
  if (distances.empty()) return 0;
  const size_t place = std::min(NEAR_LINK, distances.size() - 1);
  std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(place), distances.end());
  return distances[place];
}

Graph::Order Graph::orderOfCodes(const Rows& rows, uint32_t row) const {
  if (!rows.coded() || !rows.resident(row)) return Order::Unknown;
  const SimdKernels& kernels = simdKernels();
  const float uncertain = uncertainDistance(rows);
  std::vector<double> distances, errors;
  for (const uint32_t other : nodes_.links(row, 0)) {
    if (!rows.resident(other)) continue;
    const float distance = 1 - kernels.dotHigh(rows.high(row), rows.high(other), rows.lanes());
    if (distance < uncertain) continue;
    distances.push_back(distance);
    errors.push_back(distanceByCodes(rows, rows.codes(row), other) - distance);
    if (distances.size() == ORDERED_LINKS) break;
  }
  if (distances.size() < ORDERED_LINKS_MIN) return Order::Unknown;
  // What is wrong by the same for all of them changes no order.
  return varianceOf(errors) * ORDERED * ORDERED <= varianceOf(distances) ? Order::Kept : Order::Lost;
}

void Graph::sample(const Rows& rows) {
  const size_t step = std::max<size_t>(1, size() / SAMPLES);
  size_t links = 0, samples = 0;
  size_t kept = 0, lost = 0;
  double sum = 0, squares = 0;
  for (size_t slot = 0; slot < size(); slot += step) {
    const uint32_t row = static_cast<uint32_t>(slot);
    const double near = nearDistance(rows, row);
    samples++;
    links += nodes_.links(row, 0).size();
    sum += near;
    squares += near * near;
    const Order order = orderOfCodes(rows, row);
    kept += order == Order::Kept ? 1 : 0;
    lost += order == Order::Lost ? 1 : 0;
  }
  const double mean = sum / static_cast<double>(samples);
  const double variance = std::max(0.0, squares / static_cast<double>(samples) - mean * mean);
  meanDegree_ = static_cast<float>(links) / static_cast<float>(samples);
  // Where halves are not in memory it stays as it was: they left it because codes tell.
  const bool ordered = kept + lost >= ORDERED_NODES_MIN ? lost * LOST_SHARE <= kept + lost : nearDistances_.ordered;
  nearDistances_ = {static_cast<float>(mean), static_cast<float>(std::sqrt(variance)), ordered};
  sampledAt_ = size();
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
