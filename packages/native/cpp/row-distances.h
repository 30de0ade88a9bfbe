// Distances between the rows that are being linked, and which of them become links.
#pragma once
#include "graph.h"
#include "large-blocks.h"

namespace shoal {

/** How many distances are computed at once. */
constexpr size_t DISTANCES_AT_ONCE = 64;

/**
 * Distances between rows, many at once. Copies of one vector are all nearest to each other, and would fill each other's
 * links until no search that came among them got out again. So between copies there is a made-up distance, below all real
 * ones and different for each pair: by it the pruning keeps some copies, and leaves places for other neighbours.
 */
class RowDistances {
 public:
  explicit RowDistances(const Rows& rows);

  void prefetch(uint32_t row) const {
    const char* bytes = reinterpret_cast<const char*>(rows_.high(row));
    for (size_t offset = 0; offset < prefetchBytes_; offset += CACHE_LINE_BYTES) __builtin_prefetch(bytes + offset);
  }
  /** Sets the distances of up to DISTANCES_AT_ONCE candidates from a row. */
  void measure(uint32_t from, Candidate* candidates, size_t count);
  /**
   * Picks of candidates in order of distance up to `most` and puts them in front: the nearest one, and then each that is
   * nearer to where the distances are from than to those picked before it. Returns how many.
   */
  size_t pickDiverse(Candidate* candidates, size_t count, size_t most);

 private:
  const Rows& rows_;
  const SimdKernels& kernels_;
  const size_t lanes_;
  const size_t prefetchBytes_;
  const uint16_t* highs_[DISTANCES_AT_ONCE];
  float dots_[DISTANCES_AT_ONCE];
  Candidate near_[DISTANCES_AT_ONCE];
};

}  // namespace shoal
