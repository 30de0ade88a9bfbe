#include "candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal {
namespace {

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
  coarse = lost.coarse;
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
  if (nearest.size() == wanted_) limit_ = nearest.front();
}

bool NearestCollector::rank(uint32_t& unread) {
  const Rows& rows = rows_;
  const PreparedQuery& query = query_;
  const SimdKernels& kernels = simdKernels();
  auto& ranked = scratch_.ranked;
  ranked.clear();
  for (const Candidate& candidate : scratch_.kept)
    if (candidate.distance <= limit_) ranked.push_back(candidate);
  const bool allResident = rows.allResident();
  if (!allResident) scratch_.halves.resize(2 * rows.lanes());
  uint16_t* const readHigh = scratch_.halves.data();
  for (size_t i = 0; i < ranked.size(); i++) {
    if (allResident && i + 4 < ranked.size()) __builtin_prefetch(rows.low(ranked[i + 4].row));
    const uint32_t row = ranked[i].row;
    const bool resident = allResident || rows.resident(row);
    if (!resident && !rows.readHalves(row, readHigh, readHigh + rows.lanes())) {
      unread = row;
      return false;
    }
    const uint16_t* high = resident ? rows.high(row) : readHigh;
    const uint16_t* low = resident ? rows.low(row) : readHigh + rows.lanes();
    const float dot = kernels.dotExact(query.exact.data(), high, low, rows.lanes());
    const bool undefined = query.zero || (dot == 0 && rows.isZero(row));
    ranked[i].distance = undefined ? ZERO_VECTOR_DISTANCE : std::min(2.0f, std::max(0.0f, 1 - dot));
    ranked[i].row = rows.document(row);
  }
  const size_t count = std::min(wanted_, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(),
                    [](const Candidate& a, const Candidate& b) {
                      return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
                    });
  scratch_.documents.resize(count);
  scratch_.distances.resize(count);
  for (size_t i = 0; i < count; i++) {
    scratch_.documents[i] = ranked[i].row;
    scratch_.distances[i] = ranked[i].distance == ZERO_VECTOR_DISTANCE ? std::numeric_limits<float>::quiet_NaN()
                                                                       : ranked[i].distance;
  }
  return true;
}

}  // namespace shoal
