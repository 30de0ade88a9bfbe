// From approximate distances to exact results.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph.h"
#include "rows.h"

namespace shoal {

/** Stands for the distance of a zero vector, which is undefined; behind every real one. */
constexpr float ZERO_VECTOR_DISTANCE = 4;

/** A query as the kernels want it. */
struct PreparedQuery {
  /** Length one, padded with zeros; all zeros when the query is. */
  std::vector<float> exact;
  std::vector<uint16_t> high;
  /** Empty when the rows have none. */
  std::vector<int8_t> codes;
  bool coarse = false;
  bool zero = false;
  /** Approximate and exact distance differ by no more than this. */
  float error = 0;

  void prepare(const float* vector, const Rows& rows);
  Point point() const { return {high.data(), codes.data(), coarse}; }
};

struct ScanScratch {
  std::vector<Candidate> kept;
  std::vector<float> nearest;
  std::vector<Candidate> ranked;
  std::vector<uint32_t> documents;
  std::vector<float> distances;
};

/**
 * Collects rows with approximate distances and keeps all that may be among the `wanted` nearest by exact distance: those
 * that are not farther than the last wanted one by more than twice the error.
 */
class NearestCollector {
 public:
  NearestCollector(const Rows& rows, const PreparedQuery& query, ScanScratch& scratch, size_t wanted)
      : rows_(rows), query_(query), scratch_(scratch), wanted_(wanted) {
    scratch_.kept.clear();
    scratch_.nearest.clear();
  }

  const PreparedQuery& query() const { return query_; }

  void add(float distance, uint32_t row) {
    if (distance > limit_) return;
    // A zero vector has no direction: it comes last, not in the middle.
    if (distance == 1 && !query_.zero && rows_.isZero(row)) distance = ZERO_VECTOR_DISTANCE;
    scratch_.kept.push_back({distance, row});
    insert(distance);
  }

  /**
   * Computes exact distances and leaves the nearest in `scratch.documents` and `scratch.distances`: nearest first,
   * equal distances by smaller document, NaN last.
   */
  void rank();

 private:
  void insert(float distance);

  const Rows& rows_;
  const PreparedQuery& query_;
  ScanScratch& scratch_;
  const size_t wanted_;
  float limit_ = 3e38f;
};

}  // namespace shoal
