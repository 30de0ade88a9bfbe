// How many candidates a search keeps when nobody says so: a function of what its walk shows, with numbers that the index
// has measured of itself (packages/vector-index/src/fit-effort.ts).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace shoal {

/** The place of the result whose distance is compared with that of the last candidate. */
constexpr size_t CONTRAST_PLACE = 10;

/**
 * A walk begins with `stage` candidates. The contrast of what it has found is the distance of the tenth nearest divided by
 * that of the `stage`-th: close to 1 where distances hardly differ, as around a query with many dimensions of its own,
 * which takes more candidates. From contrast to candidates is a line through the knots; it is level outside of them.
 */
struct SearchEffort {
  static constexpr size_t KNOTS_MAX = 12;

  size_t stage;
  size_t knots;
  /** Ascending. */
  float contrasts[KNOTS_MAX];
  /** Candidates for ten results. */
  float candidates[KNOTS_MAX];
  /** So many times the candidates are kept for one result, for a hundred, and for ten under a filter that keeps a quarter. */
  float ofOne, ofHundred, ofQuarter;
  /** A query whose tenth nearest is farther than that is unlike all that were measured: it gets those of the last knot. */
  float farthest;
  /** Distances that a search for ten results measures on average. */
  float distances;
  /** No number of candidates finds enough: rows are scanned. */
  bool exact;

  float at(float contrast) const {
    if (contrast <= contrasts[0]) return candidates[0];
    for (size_t knot = 1; knot < knots; knot++) {
      if (contrast > contrasts[knot]) continue;
      const float width = contrasts[knot] - contrasts[knot - 1];
      const float part = width > 0 ? (contrast - contrasts[knot - 1]) / width : 1;
      return candidates[knot - 1] + part * (candidates[knot] - candidates[knot - 1]);
    }
    return candidates[knots - 1];
  }

  /** What the candidates are multiplied by: in between on logarithmic scales; of `kept` of the rows, under a filter. */
  float factor(float results, float kept) const {
    float factor = 1;
    if (results <= CONTRAST_PLACE) {
      const float part = std::log(CONTRAST_PLACE / std::max(1.0f, results)) / std::log(10.0f);
      factor = std::pow(ofOne, part);
    } else if (results <= 10 * CONTRAST_PLACE) {
      factor = std::pow(ofHundred, std::log(results / CONTRAST_PLACE) / std::log(10.0f));
    } else {
      factor = ofHundred * results / (10 * CONTRAST_PLACE);
    }
    if (kept < 1) factor *= std::pow(ofQuarter, std::min(1.0f, std::log(kept) / std::log(0.25f)));
    return factor;
  }
};

/**
 * Until an index has measured itself. On ten distributions of 20,000 to 300,000 rows, 256 candidates find .98 of the ten nearest
 * and more of queries that come from where rows do. Those from elsewhere have a contrast near 1; 1,536 candidates find .96.
 */
constexpr SearchEffort UNMEASURED_EFFORT = {
    64, 2, {0.93f, 0.96f}, {256, 1536}, 1, 3, 1, 3, 8000, false,
};

}  // namespace shoal
