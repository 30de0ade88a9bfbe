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

constexpr double FLAT_ROWS_COST = 40'000;

constexpr float COPY_DISTANCE_MAX = 1e-6f;

/** A filter is scanned, whatever `flatSearchCutoff` says, when a walk would cost so many times more. */
constexpr double HOPELESS_WALK = 8;

/** A shard asks its index for one more than is wanted, to see which of equally distant objects make the page. */
constexpr size_t TIE_ROWS = 1;

/** Distances that a walk without a filter measures. */
double walkedRows(const SearchShape& shape, const SearchPlan& plan, const SearchEffort& effort) {
  if (shape.ef < 0) return static_cast<double>(effort.distances) * std::max(1.0f, plan.factor);
  return 0.65 * static_cast<double>(plan.ef) * static_cast<double>(shape.meanDegree);
}

}  // namespace

size_t flatRowsMax(size_t lanes) {
  return std::clamp<size_t>(static_cast<size_t>(FLAT_ROWS_COST / scanRowCost(lanes)), 64, 4096);
}

SearchPlan planSearch(const SearchShape& shape, const SearchEffort& effort) {
  SearchPlan plan;
  const double scanned = static_cast<double>(shape.filtered ? shape.allowed : shape.live);
  const double kept = std::max(1e-9, scanned / static_cast<double>(std::max<size_t>(shape.live, 1)));
  // Of results that are merged over shards, each shard gives its nearest few.
  const size_t results = std::max<size_t>(shape.wanted, 1 + TIE_ROWS) - TIE_ROWS;
  plan.factor = effort.factor(static_cast<float>(results) / static_cast<float>(shape.shards),
                              shape.filtered ? static_cast<float>(kept) : 1);
  plan.adaptive = shape.ef < 0;
  plan.farTells = !shape.filtered;
  plan.wanted = shape.wanted;
  // The stage is the same however many results are wanted: what it shows is compared with what was measured.
  plan.ef = plan.adaptive ? effort.stage : std::max(shape.wanted, static_cast<size_t>(shape.ef));

  const double scanCost = scanned * scanRowCost(shape.lanes);
  const double visits = std::min(static_cast<double>(shape.linked),
                                 walkedRows(shape, plan, effort) * std::pow(std::min(1.0, kept), -0.7));
  const double walkCost = visits * walkRowCost(shape);
  const bool mayScan =
      !shape.filtered || shape.allowed <= shape.flatSearchCutoff || walkCost > HOPELESS_WALK * scanCost;
  plan.flat = shape.linked == 0 || (mayScan && scanCost <= walkCost) || shape.allowed <= shape.wanted ||
              (plan.adaptive && effort.exact);
  plan.distancesMax =
      shape.filtered ? static_cast<size_t>(2 * std::max(scanCost, walkCost) / walkRowCost(shape)) + 1000 : SIZE_MAX;
  return plan;
}

StageDistances stageDistances(std::vector<float>& distances, size_t stage) {
  const size_t last = std::min(stage, distances.size()) - 1;
  const size_t place = std::min(CONTRAST_PLACE - 1, last);
  const auto at = [&distances](size_t wanted) { return distances.begin() + static_cast<std::ptrdiff_t>(wanted); };
  std::nth_element(distances.begin(), at(last), distances.end());
  if (place < last) std::nth_element(distances.begin(), at(place), at(last));
  const float tenth = std::max(0.0f, *at(place));
  const float farthest = *at(last);
  // All of them are copies of the query, but for rounding: nothing nearer is left to find.
  return {tenth, farthest < COPY_DISTANCE_MAX ? 0 : tenth / farthest};
}

size_t widenedEf(const SearchPlan& plan, const SearchEffort& effort, std::vector<float>& distances) {
  if (!plan.adaptive || distances.empty()) return 0;
  const StageDistances found = stageDistances(distances, effort.stage);
  const bool isUnlike = plan.farTells && found.tenth > effort.farthest;
  const float candidates = isUnlike ? effort.candidates[effort.knots - 1] : effort.at(found.contrast);
  return std::max(plan.wanted, static_cast<size_t>(std::ceil(candidates * plan.factor)));
}

}  // namespace shoal
