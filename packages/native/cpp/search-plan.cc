#include "search-plan.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

// Nanoseconds.
double scanRowCost(size_t lanes) { return 3.5 + 0.045 * static_cast<double>(lanes); }
double walkRowCost(const SearchShape& shape) {
  const double lanes = static_cast<double>(shape.lanes);
  return shape.coded ? 12 + 0.13 * lanes : 15 + 0.17 * lanes;
}

/** Candidates that find a query among its like. */
constexpr double NEAR_EF = 36;
/** How much the nearest counts beside the tenth, and where it is expected, in means of the tenth. */
constexpr double NEAREST_WEIGHT = 0.15;
constexpr double NEAREST_EXPECTED = 0.4;
/** Where distances hardly differ (in random vectors, deviation / mean is about 0.03), they tell nothing of a query. */
constexpr double TELLING_SPREAD = 0.18;
/** More candidates for more results, above the ten that the rest is fitted to. */
constexpr double EF_PER_RESULT = 1.6;

constexpr double LEAST_EF = 48;
/** In 100,000 rows. */
constexpr double SMALL_SIZE = 0.6;

/** With 1 / shards the merged ten of three were found with recall .9924 to .9945, those of one graph with .9932 to .9943. */
constexpr double SHARE_EXPONENT = -0.8;
/**
 * The same for queries among their like. Three graphs of a third of the rows each find words with recall .9932 (.9945 with 0,
 * .9900 with -0.8; one graph of all .9925), pictures with .9915 (.9937, .9875; .9927), by a tenth and a seventh less work.
 */
constexpr double NEAR_SHARE_EXPONENT = -0.4;
/** Fewer would not hold the tenth, by which the rest is judged. */
constexpr double NEAR_EF_MIN = 12;

constexpr double FLAT_ROWS_COST = 40'000;

/** A filter is scanned, whatever `flatSearchCutoff` says, when a walk would cost so many times more. */
constexpr double HOPELESS_WALK = 8;

/**
 * Candidates that each standard deviation of distance above that takes. In graphs of many links the first ones find most:
 * words (ordinarily 170) are found with recall .991 in place of .993 by nine tenths of the work, pictures (76) need all.
 */
double efPerDeviation(double ordinary) { return std::min(0.64 * ordinary, 20 + 0.41 * ordinary); }

double scarcityOf(const SearchShape& shape) {
  return std::max(1.0, 64 / static_cast<double>(shape.connectivityBase));
}

/**
 * The pruned degree of the graph follows the number of dimensions that the data really uses, and with it how far a walk
 * must look. It also grows with the number of rows, so it is brought to that of 100,000 rows first: 33.6 for words
 * (GloVe-100, also measured with 20,000 and 40,000), which takes 170 candidates; 14 for pictures (Fashion-MNIST), which
 * takes 76. Fewer connections than 64 cap the degree, and make a walk look at fewer rows for the same ef.
 */
double automaticEf(const SearchShape& shape) {
  const double scarcity = scarcityOf(shape);
  const double size = static_cast<double>(std::max<size_t>(shape.linked, 1)) / 100'000;
  const double degree = std::min(64.0, static_cast<double>(shape.meanDegree) * scarcity * std::pow(size, -0.37));
  const double ef = std::max(LEAST_EF, 10 + 4.75 * degree) * std::sqrt(scarcity);
  // In a small graph the same number finds more than is asked for: .9995 of ten among 33,333 words.
  if (size < SMALL_SIZE && !shape.filtered) return std::max(LEAST_EF, ef * size / SMALL_SIZE);
  return ef * std::max(1.0, 1 + 0.06 * std::log2(size));
}

}  // namespace

size_t flatRowsMax(size_t lanes) {
  return std::clamp<size_t>(static_cast<size_t>(FLAT_ROWS_COST / scanRowCost(lanes)), 64, 4096);
}

SearchPlan planSearch(const SearchShape& shape) {
  SearchPlan plan;
  const double more = shape.wanted > 10 ? EF_PER_RESULT * static_cast<double>(shape.wanted - 10) : 0;
  plan.ordinaryEf = static_cast<size_t>(automaticEf(shape) + more);
  plan.share = std::pow(static_cast<double>(shape.shards), SHARE_EXPONENT);
  const double nearShare = std::pow(static_cast<double>(shape.shards), NEAR_SHARE_EXPONENT);
  plan.nearEf = static_cast<size_t>(std::max(NEAR_EF_MIN, NEAR_EF * nearShare) * std::sqrt(scarcityOf(shape)) + more);
  // Under a filter, distances say more of the filter than of the query.
  plan.adaptive = shape.ef < 0 && !shape.filtered;
  const size_t automatic = plan.adaptive ? plan.nearEf : plan.ordinaryEf;
  plan.ef = std::max(shape.wanted, shape.ef < 0 ? automatic : static_cast<size_t>(shape.ef));

  const double scanned = static_cast<double>(shape.filtered ? shape.allowed : shape.live);
  const double scanCost = scanned * scanRowCost(shape.lanes);
  const double kept = std::max(1e-9, scanned / static_cast<double>(std::max<size_t>(shape.live, 1)));
  const double expected = static_cast<double>(plan.adaptive ? (plan.nearEf + plan.ordinaryEf) / 2 : plan.ef);
  const double visits = std::min(static_cast<double>(shape.linked),
                                 0.65 * expected * shape.meanDegree * std::pow(std::min(1.0, kept), -0.7));
  const double walkCost = visits * walkRowCost(shape);
  const bool mayScan =
      !shape.filtered || shape.allowed <= shape.flatSearchCutoff || walkCost > HOPELESS_WALK * scanCost;
  plan.flat = shape.linked == 0 || (mayScan && scanCost <= walkCost) || shape.allowed <= shape.wanted;
  plan.distancesMax =
      shape.filtered ? static_cast<size_t>(2 * std::max(scanCost, walkCost) / walkRowCost(shape)) + 1000 : SIZE_MAX;
  return plan;
}

size_t widenedEf(const SearchPlan& plan, FoundDistances found, float mean, float deviation) {
  const double ordinary = static_cast<double>(plan.ordinaryEf);
  const double spread = static_cast<double>(deviation) / std::max(1e-6, static_cast<double>(mean));
  const double nearest = found.nearest - NEAREST_EXPECTED * mean;
  const double farther = static_cast<double>(found.tenth) - mean + NEAREST_WEIGHT * nearest;
  const double above = farther / std::max(1e-6, static_cast<double>(deviation));
  const double telling = std::min(1.0, spread / TELLING_SPREAD);
  // Of results that are merged over shards each gives its nearest few, which fewer candidates find.
  const double share = 1 - (1 - plan.share) * telling;
  const double told = static_cast<double>(plan.nearEf) + efPerDeviation(ordinary) * share * std::min(4.0, above);
  const double untold = ordinary * (1 - telling);
  return static_cast<size_t>(std::max(told, untold));
}

}  // namespace shoal
