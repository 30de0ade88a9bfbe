#include "candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal {
namespace {

/** Codes that leave so many times more out of a query than out of rows of which they leave much out do not tell it. */
constexpr float COARSE_AS_USUAL = 4;

/** Rounding of the sixteen or more partial sums of a dot product of two vectors of length one. */
float summationError(size_t lanes) { return 1e-6f + 6e-8f * static_cast<float>(lanes / ROW_LANES); }

}  // namespace

void PreparedQuery::prepare(const float* vector, const Rows& rows) {
  exact.resize(rows.lanes());
  high.resize(rows.lanes());
  zero = !normalise(vector, rows.dimensions(), rows.lanes(), exact.data());
  for (size_t i = 0; i < rows.lanes(); i++) {
    uint16_t low;
    splitFloat(exact[i], high[i], low);
  }
  codes.resize(rows.codeBytes());
  // |q·x - q'·x'| <= |q - q'||x| + |q'||x - x'| by Cauchy and Schwarz; x has length one, and |q'| is 1.004 at most.
  const float rounding = summationError(rows.lanes());
  error = residualOf(exact.data(), rows.dimensions()) + 1.004f * rows.residualMax() + rounding;
  if (!rows.coded()) return;
  const CodeLoss lost = writeCodes(exact.data(), rows.dimensions(), codes.data());
  coarse = lost.coarse > COARSE_AS_USUAL * rows.coarseMean();
  codeError = lost.length + (1.0001f + lost.length) * rows.codeResidualMax() + rounding;
}

void NearestCollector::insert(float farthest) {
  auto& nearest = scratch_.nearest;
  if (nearest.size() < wanted_) {
    nearest.push_back(farthest);
    std::push_heap(nearest.begin(), nearest.end());
  } else if (farthest < nearest.front()) {
    std::pop_heap(nearest.begin(), nearest.end());
    nearest.back() = farthest;
    std::push_heap(nearest.begin(), nearest.end());
  } else {
    return;
  }
  if (nearest.size() < wanted_) return;
  limit_ = nearest.front();
  rowLimit_ = limit_ + query_.error;
  codeLimit_ = limit_ + query_.codeError;
}

float NearestCollector::exactDistance(const uint16_t* high, const uint16_t* low, uint32_t row) const {
  const float dot = simdKernels().dotExact(query_.exact.data(), high, low, rows_.lanes());
  const bool undefined = query_.zero || (dot == 0 && rows_.isZero(row));
  return undefined ? ZERO_VECTOR_DISTANCE : std::min(2.0f, std::max(0.0f, 1 - dot));
}

bool NearestCollector::measureResident() {
  auto& ranked = scratch_.ranked;
  for (size_t i = 0; i < ranked.size(); i++) {
    if (i + 4 < ranked.size()) __builtin_prefetch(rows_.low(ranked[i + 4].row));
    const uint32_t row = ranked[i].row;
    ranked[i] = {exactDistance(rows_.high(row), rows_.low(row), row), rows_.document(row)};
  }
  return true;
}

/** A read costs more than a hundred rows in memory: so the nearest come first, and the last is that behind which none can be wanted. */
bool NearestCollector::measureFromFile(uint32_t& unread) {
  auto& ranked = scratch_.ranked;
  scratch_.halves.resize(2 * rows_.lanes());
  uint16_t* const readHigh = scratch_.halves.data();
  uint16_t* const readLow = readHigh + rows_.lanes();
  std::sort(ranked.begin(), ranked.end(), Nearer());
  // From here on of exact distances.
  scratch_.nearest.clear();
  limit_ = UNLIMITED;
  size_t measured = 0;
  for (; measured < ranked.size() && ranked[measured].distance <= limit_; measured++) {
    Candidate& candidate = ranked[measured];
    const uint32_t row = candidate.row;
    candidate.row = rows_.document(row);
    if (query_.zero || rows_.isZero(row)) {
      candidate.distance = ZERO_VECTOR_DISTANCE;
    } else if (rows_.resident(row)) {
      candidate.distance = exactDistance(rows_.high(row), rows_.low(row), row);
    } else if (rows_.readHalves(row, readHigh, readLow)) {
      candidate.distance = exactDistance(readHigh, readLow, row);
    } else {
      unread = row;
      return false;
    }
    insert(candidate.distance);
  }
  ranked.resize(measured);
  return true;
}

bool NearestCollector::rank(uint32_t& unread) {
  auto& ranked = scratch_.ranked;
  ranked.clear();
  for (const Candidate& candidate : scratch_.kept)
    if (candidate.distance <= limit_) ranked.push_back(candidate);
  if (!(rows_.allResident() ? measureResident() : measureFromFile(unread))) return false;
  const size_t count = std::min(wanted_, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(),
                    [](const Candidate& a, const Candidate& b) {
                      return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
                    });
  scratch_.documents.resize(count);
  scratch_.distances.resize(count);
  for (size_t i = 0; i < count; i++) {
    scratch_.documents[i] = ranked[i].row;
    scratch_.distances[i] =
        ranked[i].distance == ZERO_VECTOR_DISTANCE ? std::numeric_limits<float>::quiet_NaN() : ranked[i].distance;
  }
  return true;
}

}  // namespace shoal
