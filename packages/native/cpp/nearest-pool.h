// The nearest candidates so far, in order.
#pragma once
#include <cstring>
#include <vector>

#include "graph.h"

namespace shoal {

/** Farther than anything. */
constexpr float UNBOUNDED = 3e38f;

/**
 * Keeps the `most` nearest of what is inserted, and knows which of them have been opened. One sorted list does the work
 * of the two heaps of a walk: there are few enough for moving them to be cheap, and in the end they stand in order. What
 * is inserted may also lead on without counting; then it is kept as long as fewer than `most` that count are nearer.
 */
class NearestPool {
 public:
  /** Takes the memory for `most` that count; throws std::bad_alloc. */
  void reserve(size_t most) {
    if (rows_.size() <= most) resize(most + 1);
  }
  void clear(size_t most) {
    forgetFrom(0);
    most_ = most;
    counted_ = next_ = 0;
  }

  /** Whether `insert` would keep a candidate at this distance. */
  bool accepts(float distance) const { return counted_ < most_ || distance < distances_[count_ - 1]; }
  /** Returns the place that it came to. Throws std::bad_alloc when there are more that do not count than ever before. */
  size_t insert(const Candidate& candidate, bool counts = true) {
    if (count_ == rows_.size()) resize(2 * count_);
    const size_t place = placeOf(candidate.distance);
    const size_t moved = count_ - place;
    float* distance = distances_.data() + place;
    uint32_t* row = rows_.data() + place;
    std::memmove(distance + 1, distance, moved * sizeof(float));
    std::memmove(row + 1, row, moved * sizeof(uint32_t));
    *distance = candidate.distance;
    *row = counts ? candidate.row : candidate.row | PASSED;
    count_++;
    counted_ += counts ? 1 : 0;
    if (place < next_) next_ = place;
    if (counted_ >= most_) forgetLast();
    return place;
  }
  /** The same for one that is no nearer than any, while fewer than `most` count. */
  void append(const Candidate& candidate, bool counts) {
    if (count_ == rows_.size()) resize(2 * count_);
    distances_[count_] = candidate.distance;
    rows_[count_++] = counts ? candidate.row : candidate.row | PASSED;
    counted_ += counts ? 1 : 0;
  }

  /** The nearest that has not been opened, or NO_LINK. */
  uint32_t peek() {
    while (next_ < count_ && (rows_[next_] & OPENED) != 0) next_++;
    return next_ == count_ ? NO_LINK : rows_[next_] & ROW;
  }
  /** Where what `peek` has given stands. */
  size_t next() const { return next_; }
  /** How many of the places from `first` to `end` count. */
  size_t countedIn(size_t first, size_t end) const {
    size_t passed = 0;
    for (size_t place = first; place < end; place++) passed += rows_[place] >> 30 & 1;
    return end - first - passed;
  }
  /** Opens what `peek` has given. */
  void open() { rows_[next_++] |= OPENED; }

  /**
   * Makes room for more when all are opened, and forgets those at the distance of the last one: now all that is no nearer
   * than that can be inserted again. Returns that distance.
   */
  float widen(size_t most) {
    const float last = counted_ < most_ ? UNBOUNDED : distances_[count_ - 1];
    size_t left = count_;
    for (; left > 0 && distances_[left - 1] >= last; left--) counted_ -= counts(left - 1) ? 1 : 0;
    forgetFrom(left);
    next_ = left;
    most_ = most;
    reserve(most);
    return last;
  }

  size_t count() const { return count_; }
  /** The nearest is at 0. */
  Candidate at(size_t place) const { return {distances_[place], rows_[place] & ROW}; }
  bool counts(size_t place) const { return (rows_[place] & PASSED) == 0; }
  /** How many of them count. */
  size_t counted() const { return counted_; }

 private:
  /* A row and what is known of it. */
  static constexpr uint32_t OPENED = uint32_t{1} << 31;
  static constexpr uint32_t PASSED = uint32_t{1} << 30;
  static constexpr uint32_t ROW = PASSED - 1;
  static_assert(ROWS_MAX <= ROW + 1, "a row leaves room for two flags");

  /** So many are compared at once: more than halving the list further would cost. */
  static constexpr size_t AT_ONCE = 64;

  void resize(size_t size) {
    // Behind the last one there is always something farther.
    distances_.resize(size + AT_ONCE, UNBOUNDED);
    rows_.resize(size);
  }
  void forgetFrom(size_t first) {
    for (size_t place = first; place < count_; place++) distances_[place] = UNBOUNDED;
    count_ = first;
  }
  /** Keeps the first `most` that count and what is between them. */
  void forgetLast() {
    size_t left = count_;
    while (counted_ > most_) counted_ -= counts(--left) ? 1 : 0;
    while (!counts(left - 1)) left--;
    forgetFrom(left);
    if (next_ > left) next_ = left;
  }
  /** Behind all that are not farther. Without branches: nobody could foretell them. */
  size_t placeOf(float distance) const {
    const float* base = distances_.data();
    for (size_t left = count_; left > AT_ONCE;) {
      const size_t half = left / 2;
      base += half & -static_cast<size_t>(base[half - 1] <= distance);
      left -= half;
    }
    uint32_t place = 0;
    for (size_t i = 0; i < AT_ONCE; i++) place += base[i] <= distance ? 1 : 0;
    return static_cast<size_t>(base - distances_.data()) + place;
  }

  std::vector<float> distances_;
  std::vector<uint32_t> rows_;
  size_t most_ = 0, count_ = 0, counted_ = 0;
  /** None before it is unopened. */
  size_t next_ = 0;
};

}  // namespace shoal
