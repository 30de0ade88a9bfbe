// A file of rows that are not in memory, as native threads read it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "scheduler.h"

namespace shoal {

/**
 * Records as in row-records.h. Any number of the scheduler's threads may read. The file is held open: it may lose its name
 * meanwhile.
 */
class RowReader {
 public:
  /** Null when the file cannot be opened. */
  static std::shared_ptr<const RowReader> open(const std::string& path, uint64_t seed, size_t dimensions);
  ~RowReader();
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;

  /** Of the disk that the file is on. */
  DiskLane& lane() const { return lane_; }
  /** The float32 values of a row; false when they cannot be read or are not as they were written. */
  bool read(size_t row, float* out) const;

 private:
  RowReader(int file, DiskLane& lane, uint64_t seed, size_t dimensions)
      : file_(file), lane_(lane), seed_(seed), dimensions_(dimensions) {}

  bool readBytes(uint8_t* out, size_t bytes, size_t place) const;

  const int file_;
  DiskLane& lane_;
  const uint64_t seed_;
  const size_t dimensions_;
};

}  // namespace shoal
