#include "row-distances.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

/** More than rounding to high halves can make of the distance between equal vectors. */
constexpr float EQUAL_DISTANCE_MAX = 0.01f;

/** Beyond the first lines of a row the machine's own prefetcher has seen the pattern. */
constexpr size_t PREFETCH_BYTES_MAX = 256;

float copyDistance(uint32_t first, uint32_t second) {
  const uint64_t pair = uint64_t{std::min(first, second)} << 32 | std::max(first, second);
  const uint64_t mixed = (pair ^ pair >> 29) * 0x9E3779B97F4A7C15u;
  return -1 - static_cast<float>(mixed >> 40) * 0x1p-24f;
}

}  // namespace

RowDistances::RowDistances(const Rows& rows)
    : rows_(rows),
      kernels_(simdKernels()),
      lanes_(rows.lanes()),
      prefetchBytes_(std::min(lanes_ * sizeof(uint16_t), PREFETCH_BYTES_MAX)) {}

void RowDistances::measure(uint32_t from, Candidate* candidates, size_t count) {
  const uint16_t* high = rows_.high(from);
  for (size_t i = 0; i < count; i++) highs_[i] = rows_.high(candidates[i].row);
  kernels_.dotHighMany(high, highs_, count, lanes_, dots_);
  for (size_t i = 0; i < count; i++) {
    candidates[i].distance = 1 - dots_[i];
    if (candidates[i].distance <= EQUAL_DISTANCE_MAX && std::memcmp(high, highs_[i], lanes_ * sizeof(uint16_t)) == 0)
      candidates[i].distance = copyDistance(from, candidates[i].row);
  }
}

size_t RowDistances::pickDiverse(Candidate* candidates, size_t count, size_t most) {
  size_t picked = 0;
  for (size_t left = count; left > 0;) {
    const Candidate one = candidates[picked++];
    left--;
    if (picked == most) break;
    // What is nearer to this one than to the row is gone before its turn comes.
    Candidate* others = candidates + picked;
    size_t kept = 0;
    for (size_t first = 0; first < left; first += DISTANCES_AT_ONCE) {
      const size_t batch = std::min(DISTANCES_AT_ONCE, left - first);
      std::copy(others + first, others + first + batch, near_);
      measure(one.row, near_, batch);
      for (size_t i = 0; i < batch; i++) {
        const Candidate other = others[first + i];
        others[kept] = other;
        kept += near_[i].distance < other.distance ? 0 : 1;
      }
    }
    left = kept;
  }
  return picked;
}

}  // namespace shoal
