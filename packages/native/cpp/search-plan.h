// How to answer a search at least cost. The constants are fitted to measurements (see README.md).
#pragma once
#include <cstddef>
#include <cstdint>

namespace shoal {

/** Up to so many rows an index needs no graph: scanning them costs about as much as walking one. */
size_t flatRowsMax(size_t lanes);

struct SearchShape {
  size_t wanted;
  /** Over so many shards like this one the results are merged. */
  size_t shards;
  /** As the caller set it; -1 is automatic. */
  int32_t ef;
  size_t lanes;
  /** Whether walks read the codes of rows. */
  bool coded;
  /** Living rows, those that the filter allows of them (an upper bound), and rows in the graph. */
  size_t live;
  size_t allowed;
  size_t linked;
  float meanDegree;
  size_t connectivityBase;
  bool filtered;
  size_t flatSearchCutoff;
};

struct SearchPlan {
  bool flat;
  /** Candidates to begin with; when `adaptive`, `widenedEf` tells how many to go on with. */
  size_t ef;
  bool adaptive;
  /** Candidates that a query needs which is near to rows, and one of unknown difficulty. */
  size_t nearEf;
  size_t ordinaryEf;
  /** Of the candidates that a far query needs in one graph of all rows, so many are looked at in this shard. */
  double share;
  /** Distances after which the walk of a graph costs more than the scan would have. */
  size_t distancesMax;
};

SearchPlan planSearch(const SearchShape& shape);

/** Of what a walk has found. */
struct FoundDistances {
  float nearest;
  float tenth;
};

/**
 * Candidates for a query that has found so much, where rows have their tenth neighbour at `mean` with `deviation`. Queries
 * from where rows are dense are found by few candidates, those from far outside need many; of two with the tenth at the
 * same distance, the one whose nearest is farther needs more.
 */
size_t widenedEf(const SearchPlan& plan, FoundDistances found, float mean, float deviation);

}  // namespace shoal
