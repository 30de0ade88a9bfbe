#include "search-plan.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

// Nanoseconds.
double scanRowCost(size_t lanes) { return 3.5 + 0.045 * static_cast<double>(lanes); }
double walkRowCost(size_t lanes) { return 15 + 0.17 * static_cast<double>(lanes); }

constexpr double FLAT_ROWS_COST = 40'000;

/**
 * The pruned degree of the graph follows the number of dimensions that the data really uses, and with it how far a walk
 * must look: 33.6 and 170 for words (GloVe-100), 11.6 and 89 for pictures (Fashion-MNIST).
 */
size_t automaticEf(const SearchShape& shape) {
  double ef = 46 + 3.7 * static_cast<double>(shape.meanDegree);
  const double rows = static_cast<double>(std::max<size_t>(shape.linked, 1));
  ef *= std::max(0.5, 1 + 0.12 * std::log2(rows / 100'000));
  if (shape.wanted > 10) ef += 1.6 * static_cast<double>(shape.wanted - 10);
  return static_cast<size_t>(ef);
}

}  // namespace

size_t flatRowsMax(size_t lanes) {
  return std::clamp<size_t>(static_cast<size_t>(FLAT_ROWS_COST / scanRowCost(lanes)), 64, 4096);
}

SearchPlan planSearch(const SearchShape& shape) {
  const size_t ef = std::max(shape.wanted, shape.ef < 0 ? automaticEf(shape) : static_cast<size_t>(shape.ef));
  const double scanned = static_cast<double>(shape.filtered ? shape.allowed : shape.live);
  const double scanCost = scanned * scanRowCost(shape.lanes);
  const double share = std::max(1e-9, scanned / static_cast<double>(std::max<size_t>(shape.live, 1)));
  const double visits = std::min(static_cast<double>(shape.linked),
                                 0.65 * static_cast<double>(ef) * shape.meanDegree * std::pow(std::min(1.0, share), -0.7));
  const double walkCost = visits * walkRowCost(shape.lanes);
  const bool mayScan = !shape.filtered || shape.allowed <= shape.flatSearchCutoff;
  SearchPlan plan;
  plan.ef = ef;
  plan.flat = shape.linked == 0 || (mayScan && scanCost <= walkCost) || shape.allowed <= shape.wanted;
  plan.distancesMax =
      shape.filtered ? static_cast<size_t>(2 * std::max(scanCost, walkCost) / walkRowCost(shape.lanes)) + 1000 : SIZE_MAX;
  return plan;
}

}  // namespace shoal
