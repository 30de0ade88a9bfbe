#include "row-file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "row-records.h"

namespace shoal {

std::shared_ptr<const RowReader> RowReader::open(const std::string& path, uint64_t seed, size_t dimensions) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
#if defined(__linux__)
  // Single rows anywhere: what stands behind them would be brought for nothing.
  posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
#endif
  return std::shared_ptr<const RowReader>(new RowReader(file, seed, dimensions));
}

RowReader::~RowReader() { ::close(file_); }

bool RowReader::read(size_t row, float* out) const {
  static thread_local std::vector<uint8_t> record;
  const size_t bytes = rowRecordBytes(dimensions_);
  if (record.size() < bytes) record.resize(bytes);
  for (size_t at = 0; at < bytes;) {
    const ssize_t got = ::pread(file_, record.data() + at, bytes - at, static_cast<off_t>(row * bytes + at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += static_cast<size_t>(got);
  }
  uint64_t chain = 0;
  if (!checkRecord(record.data(), seed_, row, dimensions_, chain)) return false;
  std::memcpy(out, record.data() + RECORD_HEADER_BYTES, dimensions_ * sizeof(float));
  return true;
}

}  // namespace shoal
