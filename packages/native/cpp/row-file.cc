#include "row-file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "row-records.h"

namespace shoal {
namespace {

/** Reads what is in the page cache, so without waiting for a disk; returns how much. */
size_t readCached(int file, uint8_t* out, size_t bytes, size_t place) {
#if defined(__linux__) && defined(RWF_NOWAIT)
  const iovec target{out, bytes};
  const ssize_t got = ::preadv2(file, &target, 1, static_cast<off_t>(place), RWF_NOWAIT);
  return got > 0 ? static_cast<size_t>(got) : 0;
#else
  return 0;
#endif
}

}  // namespace

std::shared_ptr<const RowReader> RowReader::open(const std::string& path, uint64_t seed, size_t dimensions) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
#if defined(__linux__)
  // Single rows anywhere: what stands behind them would be brought for nothing.
  posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
#endif
  struct stat about{};
  if (::fstat(file, &about) != 0) {
    ::close(file);
    return nullptr;
  }
  DiskLane& lane = Scheduler::get().laneOf(static_cast<uint64_t>(about.st_dev));
  return std::shared_ptr<const RowReader>(new RowReader(file, lane, seed, dimensions));
}

RowReader::~RowReader() { ::close(file_); }

bool RowReader::readBytes(uint8_t* out, size_t bytes, size_t place) const {
  size_t at = readCached(file_, out, bytes, place);
  if (at == bytes) return true;
  const Scheduler::DiskWait wait(lane_);
  while (at < bytes) {
    const ssize_t got = ::pread(file_, out + at, bytes - at, static_cast<off_t>(place + at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += static_cast<size_t>(got);
  }
  return true;
}

bool RowReader::read(size_t row, float* out) const {
  static thread_local std::vector<uint8_t> record;
  const size_t bytes = rowRecordBytes(dimensions_);
  if (record.size() < bytes) record.resize(bytes);
  if (!readBytes(record.data(), bytes, row * bytes)) return false;
  uint64_t chain = 0;
  if (!checkRecord(record.data(), seed_, row, dimensions_, chain)) return false;
  std::memcpy(out, record.data() + RECORD_HEADER_BYTES, dimensions_ * sizeof(float));
  return true;
}

}  // namespace shoal
