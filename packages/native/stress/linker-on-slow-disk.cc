// Links rows whose vectors are in a file, on a disk that is slow enough for another row to be linked during each of some reads: none
// waits for one that reads. The disk is played here, in place of the system's calls.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <random>
#include <string>

#include "../cpp/graph.h"
#include "../cpp/row-records.h"

namespace {

/** What is done during a read of this thread. */
thread_local std::function<void()> duringRead;

}  // namespace

extern "C" {
ssize_t pread(int file, void* out, size_t bytes, off_t place) {
  if (duringRead) duringRead();
  return syscall(SYS_pread64, file, out, bytes, place);
}
/** Nothing is in the page cache. */
ssize_t preadv2(int, const iovec*, int, off_t, int) {
  errno = EAGAIN;
  return -1;
}
}

namespace {

/** So large that a few rows fill a block, which leaves memory as a whole. */
constexpr size_t DIMENSIONS = 2048;
/** Of fewer than 256 nodes nobody knows whether codes tell them: all distances are of what is read. */
constexpr size_t ROWS = 192;
constexpr uint64_t SEED = 42;
constexpr std::chrono::seconds PATIENCE{60};

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "stress: %s\n", what);
  std::_Exit(1);
}

/** All nearer to the first than to each other: so each links to that one, whose links are pruned each time. */
std::vector<float> starRow(size_t row) {
  std::vector<float> vector(shoal::paddedLanes(DIMENSIONS));
  vector[0] = 1;
  if (row > 0) vector[row] = 0.8f;
  shoal::normalise(std::vector<float>(vector).data(), DIMENSIONS, vector.size(), vector.data());
  return vector;
}

/** A link during each read whose number `every` divides; returns how many there were. */
size_t linkAll(size_t every) {
  shoal::Rows rows(DIMENSIONS);
  const std::string path = "/tmp/shoal-linker." + std::to_string(::getpid()) + ".rows";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  check(file != nullptr, "no file");
  std::vector<uint8_t> record(shoal::rowRecordBytes(DIMENSIONS));
  uint64_t chain = 0;
  for (uint32_t row = 0; row < ROWS; row++) {
    const std::vector<float> vector = starRow(row);
    check(rows.append(row, vector.data()), "no memory");
    __builtin_memcpy(record.data() + shoal::RECORD_HEADER_BYTES, vector.data(), DIMENSIONS * sizeof(float));
    chain = shoal::finishRecord(record.data(), SEED, row, row, DIMENSIONS, chain);
    std::fwrite(record.data(), 1, record.size(), file);
  }
  std::fclose(file);
  rows.drop(0, ROWS, shoal::RowReader::open(path, SEED, DIMENSIONS), ROWS);
  std::remove(path.c_str());
  check(rows.residentCount() == 0, "rows stayed in memory");

  // Few links, so that there are many layers.
  shoal::Graph graph(4, 16);
  check(graph.prepare(ROWS, rows), "no memory");
  size_t reads = 0, during = 0;
  duringRead = [&] {
    if (++reads % every != 0 || graph.size() >= ROWS) return;
    auto linked = std::async(std::launch::async, [&] { return graph.link(rows); });
    check(linked.wait_for(PATIENCE) == std::future_status::ready, "a link waits for one that reads");
    check(linked.get(), "a link failed");
    during++;
  };
  while (graph.size() < ROWS) check(graph.link(rows), "a link failed");
  duringRead = nullptr;
  check(graph.findUnreachable().size() < ROWS, "nothing was linked");
  return during;
}

}  // namespace

int main(int count, char** arguments) {
  const size_t rounds = count > 1 ? static_cast<size_t>(std::atoi(arguments[1])) : 20;
  size_t during = 0;
  for (size_t every = 1; every <= rounds; every++) during += linkAll(every);
  std::printf("stress: %zu links during reads of others\n", during);
  std::fflush(stdout);
  std::_Exit(0);
}
