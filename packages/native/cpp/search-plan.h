// How to answer a search at least cost. The costs are fitted to measurements (see README.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search-effort.h"

namespace shoal {

/** Up to so many rows an index needs no graph: scanning them costs about as much as walking one. */
size_t flatRowsMax(size_t lanes);

struct SearchShape {
  size_t wanted;
  /** Over so many shards like this one the results are merged. */
  size_t shards;
  /** As the caller set it; -1: as many candidates as the index has measured that it takes. */
  int32_t ef;
  size_t lanes;
  /** Whether walks read the codes of rows. */
  bool coded;
  /** Living rows, those that the filter allows of them (an upper bound), and rows in the graph. */
  size_t live;
  size_t allowed;
  size_t linked;
  float meanDegree;
  bool filtered;
  size_t flatSearchCutoff;
};

struct SearchPlan {
  bool flat;
  /** Candidates to begin with, and the least to end with. */
  size_t ef;
  size_t wanted;
  /** Whether `widenedEf` says how many to go on with. */
  bool adaptive;
  /** Whether the distance of the tenth says how far the query is: under a filter it says more of the filter. */
  bool farTells;
  /** What the candidates of the effort are multiplied by for this many results and this filter. */
  float factor;
  /** Distances after which the walk of a graph costs more than the scan would have. */
  size_t distancesMax;
};

SearchPlan planSearch(const SearchShape& shape, const SearchEffort& effort);

/** What the distances of a walk's first stage show. */
struct StageDistances {
  float tenth;
  float contrast;
};

/** Of distances in any order, of which there is at least one. Their order changes. */
StageDistances stageDistances(std::vector<float>& distances, size_t stage);

/** Candidates for a query whose walk has found these at the end of its first stage. */
size_t widenedEf(const SearchPlan& plan, const SearchEffort& effort, std::vector<float>& distances);

}  // namespace shoal
