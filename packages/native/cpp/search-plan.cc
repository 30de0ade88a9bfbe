#include "search-plan.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

// Nanoseconds.
double scanRowCost(size_t lanes) { return 3.5 + 0.045 * static_cast<double>(lanes); }
double walkRowCost(size_t lanes) { return 15 + 0.17 * static_cast<double>(lanes); }

constexpr double FLAT_ROWS_COST = 40'000;

/** A filter is scanned, whatever `flatSearchCutoff` says, when a walk would cost so many times more. */
constexpr double HOPELESS_WALK = 8;

/**
 * The pruned degree of the graph follows the number of dimensions that the data really uses, and with it how far a walk
 * must look. It also grows with the number of rows, so it is brought to that of 100,000 rows first: 33.6 for words
 * (GloVe-100, also measured with 20,000 and 40,000), which takes 170 candidates; 14 for pictures (Fashion-MNIST), which
 * takes 76. Fewer connections than 64 cap the degree, and make a walk look at fewer rows for the same ef.
 */
size_t automaticEf(const SearchShape& shape) {
  const double scarcity = std::max(1.0, 64 / static_cast<double>(shape.connectivityBase));
  const double size = static_cast<double>(std::max<size_t>(shape.linked, 1)) / 100'000;
  const double degree = std::min(64.0, static_cast<double>(shape.meanDegree) * scarcity * std::pow(size, -0.37));
  double ef = std::max(48.0, 10 + 4.75 * degree) * std::sqrt(scarcity);
  ef *= std::max(1.0, 1 + 0.06 * std::log2(size));
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
  const bool mayScan =
      !shape.filtered || shape.allowed <= shape.flatSearchCutoff || walkCost > HOPELESS_WALK * scanCost;
  SearchPlan plan;
  plan.ef = ef;
  plan.flat = shape.linked == 0 || (mayScan && scanCost <= walkCost) || shape.allowed <= shape.wanted;
  plan.distancesMax =
      shape.filtered ? static_cast<size_t>(2 * std::max(scanCost, walkCost) / walkRowCost(shape.lanes)) + 1000 : SIZE_MAX;
  return plan;
}

}  // namespace shoal
