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
  /** The same where the distance is by codes. */
  float codeError = 0;

  void prepare(const float* vector, const Rows& rows);
  Point point() const { return {high.data(), codes.data(), coarse}; }
};

struct ScanScratch {
  /** With the distance that each has at least. */
  std::vector<Candidate> kept;
  std::vector<float> nearest;
  std::vector<Candidate> ranked;
  std::vector<uint32_t> documents;
  std::vector<float> distances;
  /** Of a row that was read. */
  std::vector<uint16_t> halves;
};

/**
 * Collects rows with approximate distances and keeps all that may be among the `wanted` nearest by exact distance: those
 * whose distance less its error is not above the `wanted`-th of all distances with their errors.
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
    if (distance <= rowLimit_) keep(distance, row, query_.error);
  }
  /** `distance` is by codes. */
  void addByCodes(float distance, uint32_t row) {
    if (distance <= codeLimit_) keep(distance, row, query_.codeError);
  }

  /**
   * Computes exact distances and leaves the nearest in `scratch.documents` and `scratch.distances`: nearest first,
   * equal distances by smaller document, NaN last. False when a row cannot be read, whose number is in `unread` then.
   */
  bool rank(uint32_t& unread);

 private:
  static constexpr float UNLIMITED = 3e38f;

  void keep(float distance, uint32_t row, float error) {
    // A zero vector has no direction: it comes last, not in the middle.
    if (distance == 1 && !query_.zero && rows_.isZero(row)) distance = ZERO_VECTOR_DISTANCE;
    scratch_.kept.push_back({distance - error, row});
    insert(distance + error);
  }
  void insert(float farthest);
  float exactDistance(const uint16_t* high, const uint16_t* low, uint32_t row) const;
  /** Make documents with exact distances of candidates. */
  bool measureResident();
  bool measureFromFile(uint32_t& unread);

  const Rows& rows_;
  const PreparedQuery& query_;
  ScanScratch& scratch_;
  const size_t wanted_;
  /** What is farther for sure is not wanted. */
  float limit_ = UNLIMITED;
  /** The same for distances that are measured by high halves, and by codes. */
  float rowLimit_ = UNLIMITED;
  float codeLimit_ = UNLIMITED;
};

}  // namespace shoal
