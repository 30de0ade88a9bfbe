// The vectors of an index, one row each, in order of arrival. Memory comes in segments that never move, so that native
// threads read rows while the event loop appends new ones.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "row-codes.h"
#include "row-file.h"
#include "simd.h"

namespace shoal {

/** How many there may be. */
constexpr size_t ROWS_MAX = size_t{1} << 30;

/** What became of a copy of a row. */
enum class Copied {
  Yes,
  NoMemory,
  /** The row cannot be read from its file, or is not as it was written. */
  Unread,
  /** The same of one that was copied before. */
  UnreadCopy,
};

/** `death` of a row that lives. */
constexpr uint64_t ALIVE = UINT64_MAX;

/** What there is at a moment: a row that died up to then has its successor among the counted ones. */
struct RowsMoment {
  uint64_t deaths;
  size_t count;
};

/**
 * One writer at a time (the caller's lock); readers need none for rows below a `count()` they have read. A row stays where it
 * is and is immutable but for its death.
 */
class Rows {
 public:
  explicit Rows(size_t dimensions);
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  size_t dimensions() const { return dimensions_; }
  size_t lanes() const { return lanes_; }
  size_t count() const { return count_.load(std::memory_order_acquire); }
  uint64_t deaths() const { return deaths_.load(std::memory_order_acquire); }
  RowsMoment now() const {
    // In this order: the successor of a row is counted before that dies.
    const uint64_t deaths = this->deaths();
    return {deaths, count()};
  }

  /** Whether all rows are in memory. */
  bool allResident() const { return beyond_.load(std::memory_order_relaxed) == 0; }
  /** How many rows have their halves in memory, the dead ones included. */
  size_t residentCount() const { return count() - beyond_.load(std::memory_order_relaxed); }
  /** Whether a row's halves are in memory; of the others, only codes, document and death are. */
  bool resident(size_t row) const { return segment(row).high != nullptr; }
  /** Of resident rows. */
  const uint16_t* high(size_t row) const { return segment(row).high + (row & mask_) * lanes_; }
  const uint16_t* low(size_t row) const { return segment(row).low + (row & mask_) * lanes_; }
  /** Whether there are codes: where they are shorter than the high halves. */
  bool coded() const { return codeBytes_ > 0; }
  size_t codeBytes() const { return codeBytes_; }
  const int8_t* codes(size_t row) const { return segment(row).codes + (row & mask_) * codeBytes_; }
  uint32_t document(size_t row) const { return segment(row).documents[row & mask_]; }
  bool alive(size_t row) const { return death(row).load(std::memory_order_relaxed) == ALIVE; }
  /** Whether the row lived when `deaths()` was `at`. */
  bool aliveAt(size_t row, uint64_t at) const { return death(row).load(std::memory_order_relaxed) > at; }
  bool isZero(size_t row) const;

  /** The largest Euclidean length of what rounding to the high halves took from a row. */
  float residualMax() const { return residualMax_.load(std::memory_order_relaxed); }
  /** The same of the codes, and the mean of what they leave out coarsely, of the rows of which they do. */
  float codeResidualMax() const { return codeResidualMax_.load(std::memory_order_relaxed); }
  float coarseMean() const { return coarseMean_.load(std::memory_order_relaxed); }

  /** Appends a row of length one (or zero); false when there is no memory. */
  bool append(uint32_t document, const float* normalised);
  /**
   * The same of a row of an index that this one is to replace, while nobody reads from this one. What is not in memory there is
   * read from the same file here. `unread`: the row that cannot be read, there or of the copies.
   */
  Copied appendCopy(const Rows& from, size_t row, uint32_t& unread);
  /** After the last copy: makes room for rows that are appended while others are read. */
  Copied finishCopies(uint32_t& unread);
  void kill(size_t row);
  /** Whether the row holds exactly this vector. */
  bool equals(size_t row, const float* normalised) const;

  /** The exact float32 values of a row; false when they are not in memory and cannot be read. */
  bool read(size_t row, float* out) const;
  /** Both halves of a row, `lanes` each; false as for `read`. */
  bool readHalves(size_t row, uint16_t* high, uint16_t* low) const;

  /**
   * Takes the halves of rows from `keep` to `end` out of memory, as far as they fill blocks, up to `blocksMax` of these. All rows
   * up to `end` are in `file`. Not while anybody reads halves. Returns whether there is more to take.
   */
  bool drop(size_t keep, size_t end, std::shared_ptr<const RowReader> file, size_t blocksMax);
  size_t memoryBytes() const { return memoryBytes_.load(std::memory_order_relaxed); }

 private:
  struct Segment {
    /** Null when they are not in memory. */
    uint16_t* high;
    uint16_t* low;
    int8_t* codes;
    uint32_t* documents;
    std::atomic<uint64_t>* deaths;
    /** Of the float32 values of rows whose halves are not in memory. */
    uint64_t* hashes;
    /** Where such rows stand in the file; null: at their own places. */
    uint32_t* places;
  };
  /** Where the halves of some segments lie. */
  struct Halves {
    uint8_t* block;
    size_t bytes;
    std::vector<size_t> segments;
  };

  const Segment& segment(size_t row) const { return table_.load(std::memory_order_acquire)[row >> shift_]; }
  std::atomic<uint64_t>& death(size_t row) const { return segment(row).deaths[row & mask_]; }
  bool ensure(size_t row, bool whole);
  bool addSegment(bool whole);
  bool takeHalves(Segment& segment, size_t index);
  bool takePlaces(Segment& segment);
  Copied bringBack(size_t index, uint32_t& unread);
  bool forget(Halves& halves);
  size_t placeOf(size_t row) const {
    const uint32_t* places = segment(row).places;
    return places == nullptr ? row : places[row & mask_];
  }
  void code(size_t row, const float* normalised);

  const size_t dimensions_;
  const size_t lanes_;
  const size_t codeBytes_;
  size_t shift_;
  size_t mask_;
  std::atomic<size_t> count_{0};
  std::atomic<uint64_t> deaths_{0};
  std::atomic<float> residualMax_{0};
  std::atomic<float> codeResidualMax_{0};
  std::atomic<float> coarseMean_{0};
  size_t coarseRows_ = 0;
  std::atomic<size_t> memoryBytes_{0};
  std::atomic<Segment*> table_{nullptr};
  size_t tableCapacity_ = 0;
  size_t segments_ = 0;
  /** Old tables stay: a reader may still hold one. Together they are smaller than the one in use. */
  std::vector<std::unique_ptr<Segment[]>> tables_;
  std::vector<void*> blocks_;
  /** The exact values of a row that is copied. */
  std::vector<float> copied_;
  /** What is left of the last block, and of the last one of halves. */
  uint8_t* blockAt_ = nullptr;
  size_t blockLeft_ = 0;
  std::vector<Halves> halves_;
  size_t halvesLeft_ = 0;
  /** Rows whose halves are in the file only. */
  std::atomic<size_t> beyond_{0};
  std::shared_ptr<const RowReader> file_;
  /** Rows of other places in the file are below. */
  size_t movedEnd_ = 0;
  std::vector<std::unique_ptr<uint32_t[]>> places_;
};

/** Whether it is what `normalise` makes: of length 1, but for roundings, or zero. Never of NaN or infinity. */
bool isNormalised(const float* vector, size_t dimensions);
/** Divides by the Euclidean length, in float64; a zero vector stays zero. Writes zeros up to `lanes`. Whether not zero. */
bool normalise(const float* vector, size_t dimensions, size_t lanes, float* out);

/** Euclidean length of `normalised` minus its rounding to high halves. */
float residualOf(const float* normalised, size_t dimensions);

}  // namespace shoal
