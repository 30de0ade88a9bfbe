#include "row-distances.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace shoal {
namespace {

/** More than rounding to high halves can make of the distance between equal vectors. */
constexpr float EQUAL_DISTANCE_MAX = 0.01f;

/** Beyond the first lines of a row the machine's own prefetcher has seen the pattern. */
constexpr size_t PREFETCH_BYTES_MAX = 256;

/**
 * Codes tell a distance that is so many times as large as their error. Where they leave a vector of length r out of a row,
 * and that has no direction of its own, a dot product with a vector of length one is wrong by r / sqrt(dimensions) in the
 * root of the mean square; with two such rows, by sqrt(2) as much.
 */
constexpr float CERTAIN = 16;
/** Where the near neighbours are not farther than so many times that, most distances that matter would be measured twice. */
constexpr float USEFUL = 2;

float copyDistance(uint32_t first, uint32_t second) {
  const uint64_t pair = uint64_t{std::min(first, second)} << 32 | std::max(first, second);
  const uint64_t mixed = (pair ^ pair >> 29) * 0x9E3779B97F4A7C15u;
  return -1 - static_cast<float>(mixed >> 40) * 0x1p-24f;
}

}  // namespace

float uncertainDistance(const Rows& rows) {
  const float error = std::sqrt(2 / static_cast<float>(rows.dimensions())) * rows.codeResidualMax();
  return std::max(2 * EQUAL_DISTANCE_MAX, CERTAIN * error);
}

bool codesTell(const Rows& rows, const NearDistances& near) {
  return rows.coded() && near.ordered && near.mean > USEFUL * uncertainDistance(rows);
}

RowDistances::RowDistances(const Rows& rows, const NearDistances& near, bool coarse)
    : RowDistances(rows, !coarse && codesTell(rows, near)) {}

RowDistances::RowDistances(const Rows& rows, bool coded)
    : rows_(rows),
      kernels_(simdKernels()),
      lanes_(rows.lanes()),
      uncertain_(uncertainDistance(rows)),
      coded_(coded),
      prefetchBytes_(std::min(coded ? rows.codeBytes() : rows.lanes() * sizeof(uint16_t), PREFETCH_BYTES_MAX)) {}

void RowDistances::measure(const Point& from, Candidate* candidates, size_t count) {
  if (coded_) measureByCodes(from, candidates, count);
  else measureByHighs(from, candidates, count);
}

/**
 * The high halves of a row, read into a place of the thread's own if need be; null when they cannot be read. Then its codes tell how far
 * it is, so that a walk does not lose it: who ranks what was found tells that it cannot be read.
 */
const uint16_t* RowDistances::highOf(uint32_t row, size_t place) {
  if (rows_.resident(row)) return rows_.high(row);
  static thread_local std::vector<uint16_t> halves;
  // The last place is for low halves, which nobody asks for.
  halves.resize((DISTANCES_AT_ONCE + 2) * lanes_);
  uint16_t* high = halves.data() + place * lanes_;
  return rows_.readHalves(row, high, halves.data() + (DISTANCES_AT_ONCE + 1) * lanes_) ? high : nullptr;
}

/** Of the candidates at `places`, or of all. Returns how many could not be read; some row stands for these. */
size_t RowDistances::gatherHighs(const Candidate* candidates, const uint32_t* places, size_t count) {
  const auto rowAt = [=](size_t i) { return candidates[places == nullptr ? i : places[i]].row; };
  size_t unread = 0;
  if (rows_.allResident()) {
    for (size_t i = 0; i < count; i++) {
      highs_[i] = rows_.high(rowAt(i));
      if (places != nullptr) __builtin_prefetch(highs_[i]);
    }
  } else {
    const uint16_t* anyRead = nullptr;
    for (size_t i = 0; i < count; i++) {
      highs_[i] = highOf(rowAt(i), i);
      if (highs_[i] == nullptr) unread_[unread++] = static_cast<uint32_t>(i);
      else anyRead = highs_[i];
    }
    for (size_t i = 0; i < unread && unread < count; i++) highs_[unread_[i]] = anyRead;
  }
  return unread;
}

/** Of the candidates at `places`, or of all. */
void RowDistances::measureHighs(const Point& from, Candidate* candidates, const uint32_t* places, size_t count) {
  const auto candidate = [=](size_t i) -> Candidate& { return candidates[places == nullptr ? i : places[i]]; };
  const size_t unread = gatherHighs(candidates, places, count);
  const uint16_t* high = unread < count ? highOf(from) : nullptr;
  if (high == nullptr) {
    for (size_t i = 0; i < count; i++) candidate(i).distance = distanceByCodes(rows_, from.codes, candidate(i).row);
    return;
  }
  kernels_.dotHighMany(high, highs_, count, lanes_, dots_);
  for (size_t i = 0; i < count; i++) candidate(i).distance = 1 - dots_[i];
  for (size_t i = 0; i < unread; i++) {
    Candidate& one = candidate(unread_[i]);
    one.distance = distanceByCodes(rows_, from.codes, one.row);
  }
}

void RowDistances::measureByHighs(const Point& from, Candidate* candidates, size_t count) {
  measureHighs(from, candidates, nullptr, count);
}

void RowDistances::measureByCodes(const Point& from, Candidate* candidates, size_t count) {
  for (size_t i = 0; i < count; i++) codes_[i] = rows_.codes(candidates[i].row);
  kernels_.dotCodesMany(from.codes, codes_, count, rows_.codeBytes(), dots_);
  size_t again = 0;
  for (size_t i = 0; i < count; i++) {
    candidates[i].distance = 1 - dots_[i];
    places_[again] = static_cast<uint32_t>(i);
    again += candidates[i].distance < uncertain_ ? 1 : 0;
  }
  if (again == 0) return;
  measureHighs(from, candidates, places_, again);
}

void RowDistances::measureFromRow(uint32_t from, Candidate* candidates, size_t count) {
  const Point point = pointOf(from);
  measure(point, candidates, count);
  for (size_t i = 0; i < count; i++) {
    if (candidates[i].distance > EQUAL_DISTANCE_MAX) continue;
    const uint16_t* const high = highOf(point);
    const uint16_t* const other = highOf(candidates[i].row, 0);
    if (high != nullptr && other != nullptr && std::memcmp(high, other, lanes_ * sizeof(uint16_t)) == 0)
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
      measureFromRow(one.row, near_, batch);
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
