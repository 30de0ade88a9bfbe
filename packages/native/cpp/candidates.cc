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
  coarse = rows.coded() && writeCodes(exact.data(), rows.dimensions(), codes.data()).coarse;
  // |q·x - q'·x'| <= |q - q'||x| + |q'||x - x'| by Cauchy and Schwarz; x has length one, and |q'| is 1.004 at most.
  error = residualOf(exact.data(), rows.dimensions()) + 1.004f * rows.residualMax() + summationError(rows.lanes());
}

void NearestCollector::insert(float distance) {
  auto& nearest = scratch_.nearest;
  if (nearest.size() < wanted_) {
    nearest.push_back(distance);
    std::push_heap(nearest.begin(), nearest.end());
  } else if (distance < nearest.front()) {
    std::pop_heap(nearest.begin(), nearest.end());
    nearest.back() = distance;
    std::push_heap(nearest.begin(), nearest.end());
  } else {
    return;
  }
  if (nearest.size() == wanted_) limit_ = nearest.front() + 2 * query_.error;
}

void NearestCollector::rank() {
  const Rows& rows = rows_;
  const PreparedQuery& query = query_;
  const SimdKernels& kernels = simdKernels();
  auto& ranked = scratch_.ranked;
  ranked.clear();
  for (const Candidate& candidate : scratch_.kept)
    if (candidate.distance <= limit_) ranked.push_back(candidate);
  for (size_t i = 0; i < ranked.size(); i++) {
    if (i + 4 < ranked.size()) __builtin_prefetch(rows.low(ranked[i + 4].row));
    const uint32_t row = ranked[i].row;
    const float dot = kernels.dotExact(query.exact.data(), rows.high(row), rows.low(row), rows.lanes());
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
}

}  // namespace shoal
