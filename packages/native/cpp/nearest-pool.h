// The nearest candidates so far, in order.
#pragma once
#include <cstring>
#include <vector>

#include "graph.h"

namespace shoal {

/**
 * Keeps the `most` nearest of what is inserted, and knows which of them have been opened. One sorted array does the work
 * of the two heaps of a walk: there are few enough for moving them to be cheap, and in the end they stand in order.
 */
class NearestPool {
 public:
  /** Takes the memory for up to `most`; throws std::bad_alloc. */
  void reserve(size_t most) {
    if (entries_.size() > most) return;
    entries_.resize(most + 1);
    opened_.resize(most + 1);
  }
  void clear(size_t most) {
    most_ = most;
    count_ = next_ = 0;
  }

  /** Whether `insert` would keep a candidate at this distance. */
  bool accepts(float distance) const { return count_ < most_ || distance < entries_[most_ - 1].distance; }
  void insert(const Candidate& candidate) {
    const size_t place = placeOf(candidate.distance);
    // What is moved beyond the last place is forgotten.
    const size_t moved = count_ - place;
    std::memmove(&entries_[place + 1], &entries_[place], moved * sizeof(Candidate));
    std::memmove(&opened_[place + 1], &opened_[place], moved);
    entries_[place] = candidate;
    opened_[place] = 0;
    if (count_ < most_) count_++;
    if (place < next_) next_ = place;
  }

  /** Opens the nearest one that has not been opened; null when there is none. Valid until the next `insert`. */
  const Candidate* open() {
    const Candidate* next = peek();
    if (next != nullptr) opened_[next_++] = 1;
    return next;
  }
  /** The one that `open` would give. */
  const Candidate* peek() {
    while (next_ < count_ && opened_[next_] != 0) next_++;
    return next_ == count_ ? nullptr : &entries_[next_];
  }

  /** All of them, the nearest first. */
  Candidate* begin() { return entries_.data(); }
  size_t count() const { return count_; }

 private:
  /** Behind all that are not farther. Without branches: nobody could foretell them. */
  size_t placeOf(float distance) const {
    if (count_ == 0) return 0;
    const Candidate* base = entries_.data();
    for (size_t left = count_; left > 1;) {
      const size_t half = left / 2;
      base += half & -static_cast<size_t>(base[half - 1].distance <= distance);
      left -= half;
    }
    return static_cast<size_t>(base - entries_.data()) + (base->distance <= distance ? 1 : 0);
  }

  std::vector<Candidate> entries_;
  std::vector<uint8_t> opened_;
  size_t most_ = 0, count_ = 0;
  /** None before it is unopened. */
  size_t next_ = 0;
};

}  // namespace shoal
