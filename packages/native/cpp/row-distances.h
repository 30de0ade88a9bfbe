// Distances of rows from a point, many at once; and which of some rows become links.
#pragma once
#include "large-blocks.h"
#include "rows.h"

namespace shoal {

struct Candidate {
  float distance;
  uint32_t row;
};

/** Orders, as types so that the functions of heaps are compiled with them; the largest stands in front of a heap. */
struct Nearer {
  bool operator()(const Candidate& a, const Candidate& b) const { return a.distance < b.distance; }
};
struct Farther {
  bool operator()(const Candidate& a, const Candidate& b) const { return a.distance > b.distance; }
};

/** How many distances are computed at once. */
constexpr size_t DISTANCES_AT_ONCE = 64;

/** How far the near neighbours of rows are: what a query's are measured by. */
struct NearDistances {
  /** 0 where nobody knows yet. */
  float mean = 0;
  float deviation = 1;
  /** Whether codes put neighbours into nearly the order that halves put them into. */
  bool ordered = true;
};

/** Whether codes distinguish distances between rows whose near neighbours are so far. */
bool codesTell(const Rows& rows, const NearDistances& near);
/** Distances below are not computed from codes. */
float uncertainDistance(const Rows& rows);

/** How far a row is from what has these codes, by its own: near enough where its halves are not in memory. */
inline float distanceByCodes(const Rows& rows, const int8_t* from, uint32_t row) {
  const int8_t* codes = rows.codes(row);
  float dot;
  simdKernels().dotCodesMany(from, &codes, 1, rows.codeBytes(), &dot);
  return 1 - dot;
}

/** What distances are measured from: a row, or a query. */
struct Point {
  /** Null for a row that is not resident. */
  const uint16_t* high;
  /** Null when the rows have none. */
  const int8_t* codes;
  /** Whether codes do not represent this query well. */
  bool coarse = false;
  /** Which row it is, where it is one. */
  uint32_t row = UINT32_MAX;
};

/**
 * Distances by codes; those that the codes cannot tell well enough, and all where the rows have no codes or lie too close
 * together for them, by high halves.
 */
class RowDistances {
 public:
  /** `coarse`: the codes of the points to measure from do not tell them. */
  RowDistances(const Rows& rows, const NearDistances& near, bool coarse = false);

  /** Whether what is measured may have to be read from a file. */
  bool mayRead() const { return !rows_.allResident(); }
  Point pointOf(uint32_t row) const {
    return {rows_.resident(row) ? rows_.high(row) : nullptr, rows_.coded() ? rows_.codes(row) : nullptr, false, row};
  }
  void prefetch(uint32_t row) const {
    const char* bytes = coded_ || !rows_.resident(row) ? reinterpret_cast<const char*>(rows_.codes(row))
                                                       : reinterpret_cast<const char*>(rows_.high(row));
    for (size_t offset = 0; offset < prefetchBytes_; offset += CACHE_LINE_BYTES) __builtin_prefetch(bytes + offset);
  }
  /** Sets the distances of up to DISTANCES_AT_ONCE candidates from a point. */
  void measure(const Point& from, Candidate* candidates, size_t count);
  /**
   * The same from a row. Copies of one vector are all nearest to each other, and would fill each other's links until no
   * search that came among them got out again. So between copies there is a made-up distance, below all real ones and
   * different for each pair: by it the pruning keeps some copies, and leaves places for other neighbours.
   */
  void measureFromRow(uint32_t from, Candidate* candidates, size_t count);
  /**
   * Picks of candidates in order of distance up to `most` and puts them in front: the nearest one, and then each that is
   * nearer to where the distances are from than to those picked before it. Returns how many.
   */
  size_t pickDiverse(Candidate* candidates, size_t count, size_t most);

 private:
  RowDistances(const Rows& rows, bool coded);
  void measureByHighs(const Point& from, Candidate* candidates, size_t count);
  void measureByCodes(const Point& from, Candidate* candidates, size_t count);
  void measureHighs(const Point& from, Candidate* candidates, const uint32_t* places, size_t count);
  size_t gatherHighs(const Candidate* candidates, const uint32_t* places, size_t count);
  const uint16_t* highOf(uint32_t row, size_t place);
  const uint16_t* highOf(const Point& point) {
    return point.high != nullptr ? point.high : highOf(point.row, DISTANCES_AT_ONCE);
  }

  const Rows& rows_;
  const SimdKernels& kernels_;
  const size_t lanes_;
  /** Distances below are not computed from codes. */
  const float uncertain_;
  const bool coded_;
  const size_t prefetchBytes_;
  const uint16_t* highs_[DISTANCES_AT_ONCE];
  const int8_t* codes_[DISTANCES_AT_ONCE];
  float dots_[DISTANCES_AT_ONCE];
  uint32_t places_[DISTANCES_AT_ONCE];
  /** Which of `highs_` could not be read, by their places. */
  uint32_t unread_[DISTANCES_AT_ONCE];
  Candidate near_[DISTANCES_AT_ONCE];
};

}  // namespace shoal
